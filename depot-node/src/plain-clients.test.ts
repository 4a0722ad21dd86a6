import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeText } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const tls = selfSigned();
const large = randomBytes(1_000_000);

/** Until then the origin lets its answer to `/held` wait. */
const released = Promise.withResolvers<void>();
const origin: RequestListener = (asked, answer) => {
  if (asked.url === '/file.bin') answer.end('hello');
  else if (asked.url === '/held') void released.promise.then(() => answer.end('hello'));
  else if (asked.url === '/chunks') {
    answer.write('hello');
    answer.end(', world');
  } else if (asked.url === '/cut') answer.write('hello', () => answer.socket?.resetAndDestroy());
  else answer.writeHead(200, { 'Content-Length': large.length }).end(large);
};

let overlay: TestOverlay;
beforeAll(async () => {
  const [, splice] = (await testPlanes()).at(-1) ?? [];
  overlay = await startTestOverlay(['d1', 'd2'], origin, splice);
});
afterAll(() => overlay.close());

/** What comes back for a request with this target, by a client that asks for nothing else. */
const ask = (target: string, headers = 'Host: x\r\n') =>
  exchangeText(overlay.depot('d1').url, `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
const downloadTarget = () => {
  const { pathname, search } = new URL(overlay.relayUrl(`${overlay.originUrl}/file.bin`));
  return pathname + search;
};

test.each(['http://d1.example', 'HTTP://127.0.0.1:80', 'https://[::1]:8443', 'http://user@d1.example'])(
  'a request may name the depot before its target, however it does so: %s',
  async (place) => {
    expect(await ask(place + downloadTarget())).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n.*hello/s);
    expect(await ask(`${place}/healthz`)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n.*ok\n/s);
    expect(await ask(place)).toMatch(/^HTTP\/1\.1 404 .*not-a-relay-request/s);
  },
);

test('a depot fetches nothing that is named before a target, and nothing else than its ticket permits', async () => {
  const before = overlay.originConnections();
  const { originUrl } = overlay;
  expect(await ask(`${originUrl}/file.bin`)).toMatch(/^HTTP\/1\.1 404 .*not-a-relay-request/s);
  const ticket = overlay.ticket(`${originUrl}/file.bin`);
  expect(await ask(`${originUrl}/file.bin?${ticket}`)).toMatch(/^HTTP\/1\.1 4.*longhaul-error/s);
  const other = downloadTarget().replace('/file.bin', '/other.bin');
  expect(await ask(originUrl + other)).toMatch(/^HTTP\/1\.1 403 .*ticket-wrong-url/s);
  expect(await ask(`ftp://d1.example${downloadTarget()}`)).toMatch(/^HTTP\/1\.1 4/);
  expect(overlay.originConnections()).toBe(before);
});

test('a client that sends a body along, which nobody asked for, gets its file, and it is read away meanwhile', async () => {
  const { hostname, port, pathname, search } = new URL(overlay.relayUrl(`${overlay.originUrl}/held`));
  const socket = connect({ host: hostname, port: Number(port) });
  const answer = buffer(socket);
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n`,
  );
  // More than the kernels of both ends take.
  await new Promise((resolve) => socket.write(Buffer.alloc(20_000_000), resolve));
  released.resolve();
  expect((await answer).toString()).toMatch(/^HTTP\/1\.1 200 .*hello/s);
});

test('who is refused while a body is on its way is answered once, and keeps the connection', async () => {
  const { hostname, port } = new URL(overlay.depot('d1').url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n');
  await new Promise((resolve) => socket.write(Buffer.alloc(20_000_000), resolve));
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const answers = (await buffer(socket)).toString();
  expect(answers).toMatch(/^HTTP\/1\.1 4.*HTTP\/1\.1 200 .*ok\n/s);
});

test('who is refused in the middle of a body that breaks off is answered once', async () => {
  const { hostname, port } = new URL(overlay.depot('d1').url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write('POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
  await once(socket, 'readable');
  socket.write('no chunk\r\n');
  const answer = (await buffer(socket)).toString();
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

/** What a client gets that ends its side behind its request. */
async function askAndEnd(url: string, version: string): Promise<string> {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const place = { host: hostname, port: Number(port), allowHalfOpen: true };
  const socket = protocol === 'http:' ? connect(place) : connectTls({ ...place, ca: tls.cert });
  socket.end(`GET ${pathname}${search} HTTP/${version}\r\nHost: x\r\n\r\n`);
  return (await buffer(socket)).toString('latin1');
}

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  test.each([
    ['TCP', {}],
    ['TLS', { tls }],
  ])('a client that ends its side behind its request gets its answer over %s', async (_, material) => {
    const own = await startTestOverlay(['d1', 'd2'], origin, splice, {
      ...material,
      config: { failover: { tries: 1 } },
    });
    onTestFinished(() => own.close());
    for (const version of ['1.0', '1.1']) {
      const small = await askAndEnd(own.relayUrl(`${own.originUrl}/file.bin`), version);
      expect(small).toMatch(/^HTTP\/1\.1 200 .*hello/s);
      // It goes to the client past HTTP, and past this thread where there are others.
      const answer = await askAndEnd(own.relayUrl(`${own.originUrl}/large`), version);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer.endsWith(large.toString('latin1'))).toBe(true);
      expect(await askAndEnd(`${own.depot('d1').url}/x`, version)).toMatch(/^HTTP\/1\.1 404 /);
      // The end of the connection is that of the body for who does not know chunks; and one that was cut does not end.
      const chunks = await askAndEnd(own.relayUrl(`${own.originUrl}/chunks`), version);
      expect(chunks.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toMatch(/hello, world/);
      const cut = askAndEnd(own.relayUrl(`${own.originUrl}/cut`), version);
      await expect(cut).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
  });
});

test('ten large downloads that are asked for at once over one connection come whole, one after the other', async () => {
  const { hostname, port } = new URL(overlay.depot('d1').url);
  const targets = Array.from({ length: 10 }, () => new URL(overlay.relayUrl(`${overlay.originUrl}/large`)));
  const socket = connect({ host: hostname, port: Number(port) });
  const requests = targets.map(({ pathname, search }, index) => {
    const last = index === 9 ? 'Connection: close\r\n' : '';
    return `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
  });
  socket.write(requests.join(''));
  let rest = await buffer(socket);
  for (const _ of targets) {
    const bodyAt = rest.indexOf('\r\n\r\n') + 4;
    expect(rest.toString('latin1', 0, bodyAt)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n.*Content-Length: 1000000\r\n/s,
    );
    expect(rest.subarray(bodyAt, bodyAt + large.length).equals(large)).toBe(true);
    rest = rest.subarray(bodyAt + large.length);
  }
  expect(rest.length).toBe(0);
});
