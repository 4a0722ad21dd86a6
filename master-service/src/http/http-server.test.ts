import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { ErrorCode } from '@longhaul/shared';
import {
  beginKeyUpdates,
  ConnectionLimiter,
  type RefusedConnection,
  selfSigned,
} from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpServer } from './http-server.ts';

let refused: RefusedConnection[];
let limiter: ConnectionLimiter;
let server: HttpServer;
let tooMany: number;

beforeEach(() => {
  refused = [];
  tooMany = 0;
  limiter = new ConnectionLimiter({
    limits: { most: 1, reserved: 0, perNetwork: 1, waitingPerNetwork: 1, unusedPerNetwork: 10_000 },
    isTrusted: () => false,
    onRefused: (one) => refused.push(one),
  });
});
afterEach(() => server.close());

const listenWith = async (listener: RequestListener, init: object = {}) => {
  const onRefused = (code: ErrorCode) => {
    if (code === 'too-many-waiting') tooMany += 1;
  };
  server = new HttpServer(listener, { tls: undefined, limiter, onRefused, ...init });
  return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
};

test('a server keeps so many connections and closes further ones at once', async () => {
  const port = await listenWith((_request, response) => response.end());
  const first = connect(port, '127.0.0.1');
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(first, 'data');
  const second = connect(port, '127.0.0.1');
  await once(second.resume(), 'close');
  expect(refused).toEqual([{ bound: 'all', network: '127.0.0.0/24' }]);
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  first.destroy();
});

test('over TLS, who sends new keys and nothing else is left, and makes room for the next one', async () => {
  const port = await listenWith((_request, response) => response.end(), { tls: selfSigned() });
  const nuisance = connect(port, '127.0.0.1');
  nuisance.on('error', () => {});
  await once(nuisance, 'connect');
  const updates = await beginKeyUpdates(nuisance);
  const left = once(nuisance, 'close');
  nuisance.write(Buffer.concat(Array.from({ length: 1_200 }, () => updates.next())));
  await left;
  await expect.poll(() => limiter.open).toBe(0);
});

test('over TLS, who offers dear groups only is refused, also once the certificate was renewed, and who offers a cheap one is served', async () => {
  const port = await listenWith((_request, response) => response.end(), { tls: selfSigned() });
  const isServed = async (ecdhCurve: string) => {
    const client = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ecdhCurve });
    const served = await once(client, 'secureConnect').then(
      () => true,
      () => false,
    );
    client.on('error', () => {}).destroy();
    await expect.poll(() => limiter.open).toBe(0);
    return served;
  };
  for (const isRenewed of [false, true]) {
    if (isRenewed) server.renewCertificate(selfSigned());
    for (const group of ['P-521', 'P-384']) expect(await isServed(group), group).toBe(false);
    for (const group of ['P-256', 'X25519', 'P-521:P-256']) expect(await isServed(group), group).toBe(true);
  }
});

test('over TLS, who is refused his handshake again and again is closed at once, and broken requests are answered', async () => {
  const limits = { most: 9, reserved: 0, perNetwork: 9, waitingPerNetwork: 9, unusedPerNetwork: 3 };
  const few = new ConnectionLimiter({
    limits,
    isTrusted: () => false,
    onRefused: (one) => refused.push(one),
    nowMs: () => 0,
  });
  const port = await listenWith((_request, response) => response.end(), { tls: selfSigned(), limiter: few });
  const options = { host: '127.0.0.1', port, rejectUnauthorized: false };
  for (let round = 0; round < 5; round += 1) {
    const broken = connectTls(options).on('error', () => {});
    broken.write('nonsense\r\n\r\n');
    expect(String((await once(broken, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /);
    broken.destroy();
    await expect.poll(() => few.open).toBe(0);
  }
  for (let round = 0; round < 3; round += 1) {
    const dear = connectTls({ ...options, ecdhCurve: 'P-521' }).on('error', () => {});
    await new Promise((resolve) => dear.once('close', resolve));
    await expect.poll(() => few.open).toBe(0);
  }
  expect(refused).toEqual([]);
  await once(connect(port, '127.0.0.1').resume(), 'close');
  expect(refused).toEqual([{ bound: 'network-unused', network: '127.0.0.0/24' }]);
});

test.each([
  ['half a head', 'GET / HTTP/1.1\r\nHost: x'],
  ['nothing', ''],
])(
  'who sends %s is closed when the time for a head is over, and not half a minute later',
  async (_, sent) => {
    const port = await listenWith((_request, response) => response.end(), { headTimeoutMs: 100 });
    const client = connect(port, '127.0.0.1');
    client.write(sent);
    // Without its own interval of looking Node would take longer than this test may.
    await once(client.resume(), 'close');
    await expect.poll(() => limiter.open).toBe(0);
  },
);

test.each([
  ['plain ones', ''],
  ['such as expect something', 'Expect: y\r\n'],
])(
  'who lets more and more requests wait behind an answer that is not read is cut off: %s',
  async (_, expectation) => {
    // More than the kernels of both ends take.
    const large = Buffer.alloc(20_000_000);
    let served = 0;
    const port = await listenWith((_request, response) => {
      served += 1;
      response.end(large);
    });
    const client = connect(port, '127.0.0.1').on('error', () => {});
    const request = `GET / HTTP/1.1\r\nHost: x\r\n${expectation}\r\n`;
    client.pause().write(request.repeat(17));
    await expect.poll(() => served).toBe(1);
    expect(tooMany).toBe(0);
    client.write(request);
    await expect.poll(() => tooMany).toBe(1);
    await expect.poll(() => limiter.open).toBe(0);
    expect(served).toBe(1);
    client.destroy();
  },
);

test('who ends its side behind its request gets its answer', async () => {
  // Later than the end of what the client sends is known of.
  const port = await listenWith(
    ({ socket }, response) => void socket.once('end', () => setImmediate(() => response.end('hello'))),
  );
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 .*hello/s);
  await expect.poll(() => limiter.open).toBe(0);
});

test.each([
  ['goes at once', (client: Socket) => client.end()],
  ['breaks off', (client: Socket) => client.resetAndDestroy()],
  ['stays', () => {}],
  ['sends more', (client: Socket) => client.write('more than was asked for')],
])('who asks for a tunnel and %s makes room for the next one', async (_, then) => {
  const port = await listenWith((_request, response) => response.end());
  for (let time = 0; time < 3; time += 1) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    await once(client, 'connect');
    client.write('CONNECT a.example:1 HTTP/1.1\r\nHost: a.example:1\r\n\r\n');
    then(client);
    const answer = await text(client).catch(() => '');
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 405 .*method-not-allowed/s);
    await expect.poll(() => limiter.open).toBe(0);
    client.destroy();
  }
  const next = connect({ port, host: '127.0.0.1' });
  next.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await text(next)).toMatch(/^HTTP\/1\.1 200 /);
});

test('an idle connection is kept for longer than a load balancer keeps it, whatever becomes of those beside it', async () => {
  const large = Buffer.alloc(20_000_000);
  const limits = { most: 2, reserved: 0, perNetwork: 2, waitingPerNetwork: 2, unusedPerNetwork: 10_000 };
  const two = new ConnectionLimiter({ limits, isTrusted: () => false, onRefused: () => {} });
  const port = await listenWith(({ url }, response) => response.end(url === '/large' ? large : 'small'), {
    limiter: two,
    unreadTimeoutMs: 100,
  });
  const idle = connect(port, '127.0.0.1');
  idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [head] = (await once(idle, 'data')) as Buffer[];
  expect(Number(/^Keep-Alive: timeout=(\d+)\r$/m.exec(String(head))?.[1])).toBeGreaterThan(60);
  const unread = connect(port, '127.0.0.1').on('error', () => {});
  unread.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => two.open).toBe(2);
  await expect.poll(() => two.open).toBe(1);
  idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String((await once(idle, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  idle.destroy();
  unread.destroy();
});

test('who leaves an answer unread is closed after a time', async () => {
  const large = Buffer.alloc(20_000_000);
  const port = await listenWith((_request, response) => response.end(large), { unreadTimeoutMs: 100 });
  const client = connect(port, '127.0.0.1').on('error', () => {});
  client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => limiter.open).toBe(1);
  await expect.poll(() => limiter.open).toBe(0);
  client.destroy();
});
