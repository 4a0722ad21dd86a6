import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ConnectionLimiter, type ConnectionLimits, type RefusedConnection } from './connection-limiter.ts';

/** Two client networks on loopback, and a depot in a third one. */
const [HERE, THERE, DEPOT] = ['127.0.1.7', '127.0.2.7', '127.0.3.7'] as const;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const HALF = 'GET / HTTP/1.1\r\nHost: x';

const opened: Socket[] = [];
let server: Server;
let refused: RefusedConnection[];
let limiter: ConnectionLimiter;
let nowMs: number;
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

async function serve(limits: Partial<ConnectionLimits>): Promise<void> {
  refused = [];
  nowMs = 0;
  server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.end('served'));
  });
  limiter = new ConnectionLimiter({
    limits: {
      most: 100,
      reserved: 0,
      perNetwork: 100,
      waitingPerNetwork: 100,
      unusedPerNetwork: 10_000,
      ...limits,
    },
    isTrusted: (address) => address === DEPOT,
    onRefused: (one) => refused.push(one),
    nowMs: () => nowMs,
  });
  limiter.guard(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** A connection from `address` that the server has seen, whatever it made of it. */
async function open(address: string, sent = ''): Promise<Socket> {
  const seen = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  socket.on('error', () => {});
  opened.push(socket);
  await seen;
  if (sent !== '') socket.write(sent);
  return socket;
}

async function isServed(socket: Socket, request = REQUEST): Promise<boolean> {
  socket.write(request);
  return Promise.race([
    once(socket, 'data').then(([data]) => String(data).includes('200 OK')),
    once(socket, 'close').then(() => false),
  ]);
}

describe('connections that bring no request', () => {
  test('are bounded for their network, and keep nobody else out', async () => {
    await serve({ waitingPerNetwork: 3 });
    for (let index = 0; index < 3; index += 1) await open(HERE, HALF);
    expect(await isServed(await open(HERE))).toBe(false);
    expect(refused).toEqual([{ bound: 'network-waiting', network: '127.0.1.0/24' }]);
    expect(await isServed(await open(THERE))).toBe(true);
  });

  test('count until the whole request is there, its body as well', async () => {
    await serve({ waitingPerNetwork: 1 });
    const slow = await open(HERE, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1');
    expect(await isServed(await open(HERE))).toBe(false);
    expect(await isServed(slow, '2')).toBe(true);
    expect(await isServed(await open(HERE))).toBe(true);
  });

  test('make room when they close', async () => {
    await serve({ waitingPerNetwork: 1 });
    const first = await open(HERE, HALF);
    first.destroy();
    await expect.poll(() => limiter.open).toBe(0);
    expect(await isServed(await open(HERE))).toBe(true);
  });
});

describe('connections that end without a request', () => {
  /** They have come, and gone before anything was known of them. */
  const comeAndGo = async (count: number, address: string) => {
    for (let index = 0; index < count; index += 1) {
      (await open(address)).destroy();
      await expect.poll(() => limiter.open, { interval: 1 }).toBe(0);
    }
  };

  test('are bounded for their network, keep nobody else out, and are forgotten steadily', async () => {
    await serve({ unusedPerNetwork: 10 });
    await comeAndGo(10, HERE);
    expect(refused).toEqual([]);
    expect(await isServed(await open(HERE))).toBe(false);
    expect(refused).toEqual([{ bound: 'network-unused', network: '127.0.1.0/24' }]);
    expect(await isServed(await open(THERE))).toBe(true);
    nowMs += 999;
    expect(await isServed(await open(HERE))).toBe(false);
    nowMs += 1;
    expect(await isServed(await open(HERE))).toBe(true);
  });

  test('count for nobody who is trusted', async () => {
    await serve({ unusedPerNetwork: 3 });
    await comeAndGo(10, DEPOT);
    expect(await isServed(await open(DEPOT))).toBe(true);
    expect(await isServed(await open('127.0.3.8'))).toBe(true);
  });

  test('are none of those that brought one, whole or broken, however many', async () => {
    await serve({ unusedPerNetwork: 3 });
    server.on('clientError', (_, socket) => {
      limiter.noteBroken(socket);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    for (let round = 0; round < 5; round += 1) {
      const whole = await open(HERE);
      expect(await isServed(whole)).toBe(true);
      whole.destroy();
      const broken = await open(HERE);
      expect(await isServed(broken, 'nonsense\r\n\r\n')).toBe(false);
      broken.destroy();
      const half = await open(HERE, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1');
      await once(server, 'request');
      half.destroy();
      await expect.poll(() => limiter.open, { interval: 1 }).toBe(0);
    }
    expect(refused).toEqual([]);
  });
});

describe('connections that are kept after their requests', () => {
  test('are bounded for their network, too', async () => {
    await serve({ perNetwork: 2, waitingPerNetwork: 1 });
    for (let index = 0; index < 2; index += 1) expect(await isServed(await open(HERE))).toBe(true);
    expect(await isServed(await open(HERE))).toBe(false);
    expect(refused).toEqual([{ bound: 'network', network: '127.0.1.0/24' }]);
    expect(await isServed(await open(THERE))).toBe(true);
  });
});

describe('over all', () => {
  test('so many connections are open, and some more only for those who are trusted', async () => {
    await serve({ most: 4, reserved: 2, perNetwork: 2 });
    for (const address of [HERE, THERE]) await open(address, HALF);
    expect(await isServed(await open('127.0.4.7'))).toBe(false);
    expect(refused).toEqual([{ bound: 'all', network: '127.0.4.0/24' }]);
    for (let index = 0; index < 2; index += 1) expect(await isServed(await open(DEPOT))).toBe(true);
    expect(limiter.open).toBe(4);
    expect(await isServed(await open(DEPOT)), 'their reserve has an end as well').toBe(false);
  });

  test('those who are trusted are counted by themselves, and bounded as a network is', async () => {
    await serve({ perNetwork: 2 });
    for (const address of ['127.0.3.8', '127.0.3.9', DEPOT, DEPOT]) await open(address, HALF);
    expect(refused).toEqual([]);
    expect(await isServed(await open('127.0.3.8'))).toBe(false);
    expect(await isServed(await open(DEPOT))).toBe(false);
    expect(refused).toEqual([
      { bound: 'network', network: '127.0.3.0/24' },
      { bound: 'network', network: DEPOT },
    ]);
  });
});

test('connections that came and went leave nothing behind', async () => {
  await serve({ perNetwork: 5 });
  for (let round = 0; round < 50; round += 1) {
    const sockets: Socket[] = [];
    for (let index = 0; index < 6; index += 1) sockets.push(await open(HERE, HALF));
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => limiter.open, { interval: 1 }).toBe(0);
  }
  expect(refused).toHaveLength(50);
  expect(await isServed(await open(HERE))).toBe(true);
});
