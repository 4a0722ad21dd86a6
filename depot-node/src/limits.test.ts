import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { Readable } from 'node:stream';
import { HEADERS } from '@longhaul/shared';
import { afterEach, expect, test, vi } from 'vitest';
import { ClientBody } from './delivery/download/client-body.ts';
import type { SplicePlane } from './relay/splice-plane.ts';
import { exchangeText, fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const LARGE = Buffer.alloc(2_000_000);
/** As much as nobody has room for. */
const ENDLESS_BYTES = 1e12;

let overlay: TestOverlay | undefined;
const running: IncomingMessage[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const answer of running.splice(0)) answer.destroy();
  await overlay?.close();
});

/** An overlay whose origin never ends `/open` and `/endless`, and gives parts of `/parts`. */
async function startWith(
  limitsOf: Readonly<Record<string, object>>,
  splice?: SplicePlane,
  config: object = {},
): Promise<TestOverlay> {
  const origin: RequestListener = ({ url, headers }, response) => {
    if (url === '/endless') {
      response.writeHead(200, { 'Content-Length': ENDLESS_BYTES });
      endless().pipe(response);
    } else if (url === '/parts') {
      const [first = 0, last = 0] = headers.range?.match(/[0-9]+/g)?.map(Number) ?? [];
      const range = { 'Content-Range': `bytes ${first}-${last}/${LARGE.length}`, ETag: '"v1"' };
      response.writeHead(206, range).end(LARGE.subarray(first, last + 1));
    } else if (url === '/open') response.writeHead(200, { 'Content-Length': 10 }).write('hello');
    else response.writeHead(200, { 'Content-Length': LARGE.length, ETag: '"v1"' }).end(LARGE);
  };
  overlay = await startTestOverlay([], origin, splice, { config });
  for (const [id, limits] of Object.entries(limitsOf)) await overlay.addDepot(id, { limits });
  return overlay;
}

function endless(): Readable {
  return new Readable({
    read() {
      this.push(LARGE.subarray(0, 65_536));
    },
  });
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

/**
 * A limit of the origin's is none of who may ask it himself; one of the client's own he has to wait for. Who
 * goes on with a file waits in any case.
 */
async function isTurnedAway(code: string, url: string): Promise<void> {
  const isLed = code.startsWith('origin-');
  const refused = await fetchRaw(url);
  expect(refused).toMatchObject({ status: isLed ? 307 : 503, headers: { [HEADERS.error]: code } });
  if (isLed) expect(refused.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/file$/);
  const resumed = await fetchRaw(url, { headers: { Range: 'bytes=1-', 'If-Range': '"v1"' } });
  expect(resumed).toMatchObject({ status: 503, headers: { [HEADERS.error]: code, 'retry-after': '5' } });
}

test.each([
  ['connections to an origin', { perOrigin: 1 }, 'origin-crowded'],
  ['connections of a client network', { perClient: 1 }, 'client-busy'],
])(
  '%s have a limit, beyond which who begins is led to the origin or told to come back',
  async (_, limits, code) => {
    const { relayUrl, originUrl, depot } = await startWith({ d1: limits });
    const chains = [['d1']];
    await beginOpen(relayUrl(`${originUrl}/open`, { chains }, 'd1'));
    const url = relayUrl(`${originUrl}/file`, { chains }, 'd1');
    await isTurnedAway(code, url);
    const metrics = (await fetchRaw(`${depot('d1').url}/metrics`)).body.toString();
    expect(metrics).toContain(`longhaul_depot_refusals_total{code="${code}"} 2`);
    running.pop()?.destroy();
    await expect.poll(async () => (await fetchRaw(url)).status).toBe(200);
  },
);

test.each([
  ['an origin', { originBps: 1e6 }, 'origin-rate-limited'],
  ['a client network', { clientBps: 1e6 }, 'client-rate-limited'],
])('the rate of %s has a limit for what is new, and none for what is resumed', async (_, limits, code) => {
  const { relayUrl, originUrl, advanceSeconds } = await startWith({ d1: limits });
  const newUrl = () => relayUrl(`${originUrl}/file`, { chains: [['d1']] }, 'd1');
  const first = newUrl();
  expect((await fetchRaw(first)).status).toBe(200);
  await isTurnedAway(code, newUrl());
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

test.each(await testPlanes())(
  "a ticket's bytes are for all of its connections together, while they run: by %s",
  async (_, splice) => {
    const { relayUrl, originUrl, depot } = await startWith({ d1: {} }, splice);
    const budgetBytes = 20_000_000;
    const url = relayUrl(`${originUrl}/endless`, { chains: [['d1']], budgetBytes }, 'd1');
    // Who begins would be led to the origin.
    const answers = await Promise.all([1, 2, 3].map(() => readToEnd(url, { range: 'bytes=1-' })));
    for (const { broken } of answers) expect(broken).toBe('ECONNRESET');
    const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
    // What has not been read when a connection is reset is lost; and each may bring some more than it may.
    if (!splice) expect(bytes).toBeLessThan(2 * budgetBytes);
    const codes = depot('d1').events.flatMap((event) => (event.type === 'refusal' ? [event.code] : []));
    expect(codes).toEqual(['budget-used-up', 'budget-used-up', 'budget-used-up']);
    const refused = await fetchRaw(url);
    expect(refused).toMatchObject({ status: 503, headers: { [HEADERS.error]: 'budget-used-up' } });
    const another = relayUrl(`${originUrl}/file`, { chains: [['d1']] }, 'd1');
    expect((await fetchRaw(another)).status).toBe(200);
  },
);

test.each((await testPlanes()).flatMap(([kind, splice]) => [1, 4].map((lanes) => ({ kind, lanes, splice }))))(
  'a file of exactly the bytes that its ticket has is whole: by $kind over $lanes lanes',
  async (by) => {
    const { relayUrl, originUrl, depot } = await startWith({ d1: {} }, by.splice);
    const claims = { chains: [['d1']], budgetBytes: LARGE.length, lanes: by.lanes };
    const answer = await fetchRaw(relayUrl(`${originUrl}/file`, claims, 'd1'));
    expect(answer).toMatchObject({ status: 200, broken: undefined });
    expect(answer.body.equals(LARGE)).toBe(true);
    await expect
      .poll(() => depot('d1').events)
      .toContainEqual(expect.objectContaining({ type: 'transfer', outcome: 'complete' }));
  },
);

test('a part that is only on its way to its client is whole, though another part uses the ticket up meanwhile', async () => {
  const { relayUrl, originUrl, depot } = await startWith({ d1: {} });
  const url = relayUrl(`${originUrl}/parts`, { chains: [['d1']], budgetBytes: 2000 }, 'd1');
  const [begun, used] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // As with a client that has no room before the ticket is used up.
  vi.spyOn(ClientBody.prototype, 'finish').mockImplementationOnce(async function (this: ClientBody, signal) {
    const finished = this.finish(signal);
    begun.resolve();
    await used.promise;
    return signal.aborted ? { state: 'left', sha256: undefined } : finished;
  });
  const late = fetchRaw(url, { headers: { range: 'bytes=1-1000' } });
  await begun.promise;
  expect((await fetchRaw(url, { headers: { range: 'bytes=1001-2000' } })).body.length).toBe(1000);
  used.resolve();
  expect(await late).toMatchObject({ status: 206, broken: undefined, body: LARGE.subarray(1, 1001) });
  const outcomes = () =>
    depot('d1').events.flatMap((event) => (event.type === 'transfer' ? [event.outcome] : []));
  await expect.poll(outcomes).toEqual(['complete', 'complete']);
});

test('a file that is longer than its ticket has bytes is begun by nobody: the origin has all of it, and the next plan knows its size', async () => {
  const { relayUrl, originUrl, depot, master } = await startWith({ d1: {} });
  const urlFor = (budgetBytes: number, lanes: number) =>
    relayUrl(`${originUrl}/file`, { chains: [['d1']], budgetBytes, lanes }, 'd1');
  for (const lanes of [1, 4]) {
    const url = urlFor(LARGE.length - 1, lanes);
    for (const range of [undefined, 'bytes=0-']) {
      const led = await fetchRaw(url, { headers: range === undefined ? {} : { range } });
      expect(led).toMatchObject({
        status: 307,
        broken: undefined,
        headers: { location: `${originUrl}/file`, [HEADERS.error]: 'budget-used-up' },
      });
    }
    // Who goes on would drop what there is, and so would whoever comes to an address that has given something.
    expect((await fetchRaw(url, { headers: { range: 'bytes=1-' } })).status).toBe(200);
    expect((await fetchRaw(url)).status).not.toBe(307);
    expect(await fetchRaw(urlFor(LARGE.length + 1, lanes))).toMatchObject({ status: 200, broken: undefined });
  }
  await depot('d1').depot.close(0);
  const beats = master.requests.filter(({ path }) => path === '/v1/depots/d1/heartbeat');
  expect(beats.at(-1)?.body).toMatchObject({ sizes: [{ sizeBytes: LARGE.length }] });
});

test.each(await testPlanes())(
  'a tunnel through which nobody asks for anything is ended, and what flows is not: by %s',
  async (_, splice) => {
    // Together as long as who flows may take until his depot has heard of it, on a busy machine.
    const timeouts = { answerSeconds: 0.2, connectSeconds: 3 };
    const { ticket, originUrl, depot } = await startWith({ d1: {} }, splice, { timeouts });
    const authority = originUrl.slice('http://'.length);
    const open = (then: string, onText?: (soFar: string) => void) => {
      const proof = ticket(`${originUrl}/file`, { kind: 'tunnel', chains: [['d1']] });
      const head = `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Longhaul ${proof}\r\n\r\n`;
      return exchangeText(depot('d1').url, head + then, onText);
    };
    let flowed = '';
    const flowing = open('GET /open HTTP/1.1\r\nHost: x\r\n\r\n', (soFar) => (flowed = soFar)).catch(
      () => 'reset',
    );
    // So its time is over before that of the other one.
    await expect.poll(() => flowed).toMatch(/hello$/);
    await expect(open('')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect
      .poll(() => depot('d1').events.filter(({ type }) => type === 'refusal'))
      .toMatchObject([{ code: 'origin-timeout', detail: 'tunnel ended' }]);
    expect(depot('d1').events.filter(({ type }) => type === 'tunnel')).toHaveLength(1);
    await depot('d1').depot.close(0);
    await flowing;
  },
);

interface Received {
  readonly bytes: number;
  readonly broken: string | undefined;
}

function readToEnd(url: string, headers: Record<string, string>): Promise<Received> {
  return new Promise((resolve) => {
    let bytes = 0;
    const asked = request(url, { agent: false, headers }, (answer) => {
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.once('end', () => resolve({ bytes, broken: undefined }));
      answer.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ bytes, broken: code }));
    });
    asked.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ bytes, broken: code }));
    asked.end();
  });
}
