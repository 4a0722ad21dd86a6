import { get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { testPlanes } from '../testing/test-planes.ts';

const RATE_BPS = 40e6;
const FILE_BYTES = 1_000_000_000;
const CHUNK = Buffer.alloc(65_536);
const POLL = { timeout: 14_000, interval: 20 };

const endless: RequestListener = (_, response) => {
  response.writeHead(200, { 'Content-Length': FILE_BYTES, 'Accept-Ranges': 'bytes', ETag: '"v1"' });
  fill(response);
};

function fill(response: ServerResponse): void {
  while (!response.destroyed) {
    if (response.write(CHUNK)) continue;
    response.once('drain', () => fill(response));
    return;
  }
}

interface Download {
  received: number;
  readonly answer: IncomingMessage;
}

function begin(url: string): Promise<Download> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false }, (answer) => {
      const download = { received: 0, answer };
      answer.on('data', (chunk: Buffer) => {
        download.received += chunk.length;
      });
      answer.on('error', () => {});
      resolve(download);
    });
    asked.once('error', reject);
  });
}

let overlay: TestOverlay | undefined;
let downloads: Download[] = [];
afterEach(async () => {
  for (const { answer } of downloads.splice(0)) answer.destroy();
  await overlay?.close();
});

async function metricOf(url: string, name: string): Promise<number> {
  const text = (await fetchRaw(`${url}/metrics`)).body.toString();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

/** What each download gets while all of them together get `totalBytes`, after a start that does not count. */
async function sharesOf(totalBytes: number): Promise<number[]> {
  const receivedOf = () => downloads.map(({ received }) => received);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  await expect.poll(() => Math.min(...receivedOf()), POLL).toBeGreaterThan(500_000);
  const before = receivedOf();
  const startedMs = performance.now();
  await expect.poll(() => sum(receivedOf()) - sum(before), POLL).toBeGreaterThan(totalBytes);
  const seconds = (performance.now() - startedMs) / 1000;
  const grown = receivedOf().map((received, index) => received - (before[index] ?? 0));
  // A slow machine makes this hold all the more.
  expect((sum(grown) * 8) / seconds).toBeLessThan(RATE_BPS * 1.2);
  return grown;
}

/** How far the one that is furthest from the mean is away from it, as a part of the mean. */
function unevenness(shares: readonly number[]): number {
  const mean = shares.reduce((all, one) => all + one, 0) / shares.length;
  return Math.max(...shares.map((share) => Math.abs(share / mean - 1)));
}

const hasKernel = openKernel().kernel !== undefined;
const planes = await testPlanes();
const usualPlane = planes.at(-1)?.[1];

describe.runIf(hasKernel)('an uplink with a rate (Linux with koffi)', () => {
  async function startWith(paced: 'd1' | 'd2', splice = usualPlane) {
    overlay = await startTestOverlay([], endless, splice);
    const uplink = { uplink: { rateBps: RATE_BPS } };
    await overlay.addDepot('d2', paced === 'd2' ? uplink : {});
    const { url } = await overlay.addDepot('d1', paced === 'd1' ? uplink : {});
    const chains = paced === 'd1' ? [['d1']] : [['d1', 'd2']];
    const { relayUrl, originUrl } = overlay;
    return { url, newJob: () => relayUrl(`${originUrl}/file.bin`, { chains }, 'd1') };
  }

  test.each(planes)(
    'is shared evenly by two downloads over %s',
    async (_, splice) => {
      const { newJob } = await startWith('d1', splice);
      downloads = await Promise.all([begin(newJob()), begin(newJob())]);
      expect(unevenness(await sharesOf(8_000_000))).toBeLessThan(0.2);
    },
    30_000,
  );

  test('is shared evenly by five downloads', async () => {
    const { newJob } = await startWith('d1');
    downloads = await Promise.all(Array.from({ length: 5 }, () => begin(newJob())));
    expect(unevenness(await sharesOf(12_000_000))).toBeLessThan(0.2);
  }, 30_000);

  test('is shared evenly by tunnels to other depots', async () => {
    const { newJob } = await startWith('d2');
    downloads = await Promise.all([begin(newJob()), begin(newJob())]);
    expect(unevenness(await sharesOf(8_000_000))).toBeLessThan(0.2);
  }, 30_000);

  test('is shared by downloads, not by their connections', async () => {
    const { newJob } = await startWith('d1');
    const [many, single] = [newJob(), newJob()];
    downloads = await Promise.all([many, many, many, many, single].map(begin));
    const [one = 0, two = 0, three = 0, four = 0, five = 0] = await sharesOf(12_000_000);
    expect(unevenness([one + two + three + four, five])).toBeLessThan(0.2);
  }, 30_000);

  test('leaves the share of a client that does not read to the others, until it reads', async () => {
    const { url, newJob } = await startWith('d1');
    const shareBps = () => metricOf(url, 'longhaul_depot_uplink_share_bps');
    downloads = await Promise.all([begin(newJob()), begin(newJob())]);
    expect(await metricOf(url, 'longhaul_depot_uplink_jobs')).toBe(2);
    await expect.poll(shareBps, POLL).toBeLessThan(0.6 * RATE_BPS);
    downloads[0]?.answer.pause();
    await expect.poll(shareBps, POLL).toBeGreaterThan(0.9 * RATE_BPS);
    downloads[0]?.answer.resume();
    await expect.poll(shareBps, POLL).toBeLessThan(0.6 * RATE_BPS);
  }, 40_000);
});

test('a depot without a rate says nothing of an uplink', async () => {
  overlay = await startTestOverlay(['d1'], endless);
  const { body } = await fetchRaw(`${overlay.depot('d1').url}/metrics`);
  expect(body.toString()).not.toContain('uplink');
});
