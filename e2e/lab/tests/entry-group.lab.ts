import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser } from '../../browsers/find-browsers.ts';
import { DEPOTS, type DepotName } from '../entry-group/entry-network.ts';
import { type EntryStage, startEntryStage } from '../entry-group/entry-stage.ts';
import { originBytes } from '../hosts/origin-content.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { hasProgram } from '../programs.ts';
import { labObstacle } from '../requirements.ts';
import { type ClientBrowser, startClientBrowser } from '../sites/client-browser.ts';

const SIZE = 16 * MIB;
/** The add-on knows by then how fast the file comes. */
const BEGUN_BYTES = 6 * MIB;
const SOON_MS = 60_000;
const CASE_MS = 240_000;
/** BFD at the examples' 50 ms finds faults where a busy machine stands still for a moment. */
const BFD_MS = 300;
/** What has come to the client is on its disk by then. */
const READ_MS = 500;
/** Within so long what has come to a silent depot goes on at its neighbour. */
const GOES_ON_MS = 5_000;

const BROWSERS = ['chromium', 'firefox'] as const;
const lacking = [
  ...(hasProgram('bird') ? [] : ['bird']),
  ...BROWSERS.filter((kind) => findBrowser(kind) === undefined),
];
const obstacle =
  labObstacle()?.message ??
  (process.env.CI || lacking.length === 0 ? undefined : `there is no ${lacking.join(' and ')}`);

let stage: EntryStage;
let browser: ClientBrowser | undefined;
afterAll(closeAllNetworks);

/** What is on disk, under whatever name the browser gives to what is not whole. */
function bytesOnDisk(): number {
  const folder = dirname(browser?.file ?? '');
  const sizes = readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return Math.max(0, ...sizes);
}

/** Begins a download, and makes its depot silent when a part of it is there; gives what had come, and when that was. */
async function silenceMeanwhile(
  kind: (typeof BROWSERS)[number],
): Promise<{ readonly hadBytes: number; readonly silentMs: number }> {
  browser = await startClientBrowser(stage.client, kind);
  await browser.begin(stage.urlOf(SIZE));
  await expect.poll(bytesOnDisk, { timeout: SOON_MS, interval: 100 }).toBeGreaterThan(BEGUN_BYTES);
  stage.silence('rj');
  const silentMs = performance.now();
  // What had come to the machine is read.
  await delay(READ_MS);
  const hadBytes = bytesOnDisk();
  expect(hadBytes).toBeLessThan(SIZE);
  return { hadBytes, silentMs };
}

async function isWhole(): Promise<boolean> {
  const file = browser?.file ?? '';
  await expect
    .poll(() => statSync(file, { throwIfNoEntry: false })?.size, { timeout: CASE_MS / 2 })
    .toBe(SIZE);
  const whole = readFileSync(file).equals(originBytes(SIZE));
  await browser?.close();
  return whole;
}

/** The depot of each entry address, as the router sees it. */
const holders = () => Object.values(DEPOTS).map(({ entry }) => stage.holderOf(entry));

async function isBack(): Promise<void> {
  stage.heal('rj');
  await expect.poll(holders, { timeout: SOON_MS }).toEqual(['rj', 'sp']);
}

describe.skipIf(obstacle !== undefined)(
  `an entry group whose addresses neighbours announce, too${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`,
  { timeout: CASE_MS },
  () => {
    beforeAll(async () => {
      stage = await startEntryStage({ sizesBytes: [SIZE], bfdMs: BFD_MS });
    }, CASE_MS);

    test('has the address of a depot that falls silent at its neighbour, and back with it', async () => {
      await expect.poll(holders, { timeout: SOON_MS }).toEqual(['rj', 'sp']);
      stage.silence('rj');
      await expect.poll(holders, { timeout: SOON_MS }).toEqual(['sp', 'sp'] satisfies DepotName[]);
      await isBack();
    });

    test('goes on in Firefox with the bytes it has, within five seconds after the silence', async () => {
      const before = await stage.sentBy('sp');
      const { hadBytes, silentMs } = await silenceMeanwhile('firefox');
      await expect.poll(bytesOnDisk, { timeout: SOON_MS, interval: 50 }).toBeGreaterThan(hadBytes);
      expect(performance.now() - silentMs).toBeLessThan(GOES_ON_MS);
      expect(await isWhole()).toBe(true);
      // What was on its way is had twice, and no more.
      expect((await stage.sentBy('sp')) - before).toBeLessThan(SIZE - hadBytes + 2 * MIB);
      await isBack();
    });

    test('brings a file whole in Chromium, which notices no silence itself', async () => {
      await silenceMeanwhile('chromium');
      expect(await isWhole()).toBe(true);
      await isBack();
    });
  },
);
