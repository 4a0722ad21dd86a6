import { type IncomingMessage, request } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { exchangeText, fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';

const LARGE = Buffer.alloc(2_000_000);

let overlay: TestOverlay | undefined;
const running: IncomingMessage[] = [];
afterEach(async () => {
  for (const answer of running.splice(0)) answer.destroy();
  await overlay?.close();
});

/** An overlay whose origin never ends `/open`. */
async function startWith(limitsOf: Readonly<Record<string, object>>): Promise<TestOverlay> {
  overlay = await startTestOverlay([], ({ url }, response) => {
    if (url === '/open') response.writeHead(200, { 'Content-Length': 10 }).write('hello');
    else response.writeHead(200, { 'Content-Length': LARGE.length, ETag: '"v1"' }).end(LARGE);
  });
  for (const [id, limits] of Object.entries(limitsOf)) await overlay.addDepot(id, { limits });
  return overlay;
}

/** A download that goes on until the test ends. */
function beginOpen(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false }, (answer) => {
      running.push(answer.on('error', () => {}).resume());
      resolve();
    });
    asked.once('error', reject);
    asked.end();
  });
}

test.each([
  ['connections to an origin', { perOrigin: 1 }, 'origin-crowded'],
  ['connections of a client network', { perClient: 1 }, 'client-busy'],
])('%s have a limit, beyond which a client is told to come back', async (_, limits, code) => {
  const { relayUrl, originUrl, depot } = await startWith({ d1: limits });
  const chains = [['d1']];
  await beginOpen(relayUrl(`${originUrl}/open`, { chains }, 'd1'));
  const url = relayUrl(`${originUrl}/file`, { chains }, 'd1');
  const refused = await fetchRaw(url);
  expect(refused).toMatchObject({ status: 503, headers: { [HEADERS.error]: code, 'retry-after': '5' } });
  const metrics = (await fetchRaw(`${depot('d1').url}/metrics`)).body.toString();
  expect(metrics).toContain(`longhaul_depot_refusals_total{code="${code}"} 1`);
  running.pop()?.destroy();
  await expect.poll(async () => (await fetchRaw(url)).status).toBe(200);
});

test.each([
  ['an origin', { originBps: 1e6 }, 'origin-rate-limited'],
  ['a client network', { clientBps: 1e6 }, 'client-rate-limited'],
])('the rate of %s has a limit for what is new, and none for what is resumed', async (_, limits, code) => {
  const { relayUrl, originUrl, advanceSeconds } = await startWith({ d1: limits });
  const newUrl = () => relayUrl(`${originUrl}/file`, { chains: [['d1']] }, 'd1');
  const first = newUrl();
  expect((await fetchRaw(first)).status).toBe(200);
  const refused = await fetchRaw(newUrl());
  expect(refused).toMatchObject({ status: 503, headers: { [HEADERS.error]: code, 'retry-after': '5' } });
  expect((await fetchRaw(first, { headers: { Range: 'bytes=1-' } })).status).toBe(200);
  advanceSeconds(11);
  expect((await fetchRaw(newUrl())).status).toBe(200);
});

test('a tunnel that is refused is told to come back, too', async () => {
  const { ticket, originUrl, depot } = await startWith({ d1: { perOrigin: 1 } });
  const authority = originUrl.slice('http://'.length);
  const tunnel = () => {
    const proof = ticket(`${originUrl}/file`, { kind: 'tunnel', chains: [['d1']] });
    return `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Longhaul ${proof}\r\n\r\n`;
  };
  const open = exchangeText(depot('d1').url, `${tunnel()}GET /open HTTP/1.1\r\nHost: x\r\n\r\n`).catch(
    () => {},
  );
  await expect.poll(() => overlay?.originRequests.length).toBe(1);
  const refused = await exchangeText(depot('d1').url, tunnel());
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\nlonghaul-error: origin-crowded\r\n/is);
  await depot('d1').depot.close(0);
  await open;
});

test('an exit depot that has enough of an origin sends the download another way', async () => {
  const { relayUrl, originUrl, depot } = await startWith({ d2: { perOrigin: 1 }, d1: {} });
  await beginOpen(relayUrl(`${originUrl}/open`, { chains: [['d1', 'd2']] }, 'd1'));
  const answer = await fetchRaw(relayUrl(`${originUrl}/file`, { chains: [['d1', 'd2']] }, 'd1'));
  expect(answer.status).toBe(200);
  const failed = depot('d1').events.find(({ type }) => type === 'chain-failed');
  expect(failed).toMatchObject({ code: 'origin-crowded', depot: 'd2' });
});
