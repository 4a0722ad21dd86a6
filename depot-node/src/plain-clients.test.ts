import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeText } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const large = randomBytes(1_000_000);

let overlay: TestOverlay;
beforeAll(async () => {
  const [, splice] = (await testPlanes()).at(-1) ?? [];
  overlay = await startTestOverlay(
    ['d1', 'd2'],
    (asked, answer) => {
      if (asked.url === '/file.bin') answer.end('hello');
      else answer.writeHead(200, { 'Content-Length': large.length }).end(large);
    },
    splice,
  );
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
