import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KIB, MIB } from '@longhaul/shared';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser } from '../../browsers/find-browsers.ts';
import { findNatsServer } from '../../programs/nats-server.ts';
import { SITE_NAMES, type SiteName } from '../anycast/anycast-network.ts';
import { isRunning } from '../anycast/anycast-site.ts';
import { type AnycastStage, MASTERS_URL, startAnycastStage } from '../anycast/anycast-stage.ts';
import { originBytes } from '../hosts/origin-content.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { hasProgram } from '../programs.ts';
import { labObstacle } from '../requirements.ts';
import { startClientBrowser } from '../sites/client-browser.ts';

const SIZE = 10 * MIB;
/** That it works is tested here; how fast is an experiment of its own, on a machine that does nothing else. */
const SOON_MS = 60_000;
/** Processes end, start and are known again in it, one after the other, on a busy machine. */
const CASE_MS = 300_000;
/** BFD at the examples' 50 ms finds faults where a busy machine stands still for a moment. */
const BFD_MS = 500;

const BROWSERS = ['chromium', 'firefox'] as const;
const programs = ['bird', 'exabgp', 'wget', 'aria2c'] as const;
const missing = [
  ...programs.filter((program) => !hasProgram(program)),
  ...BROWSERS.filter((kind) => findBrowser(kind) === undefined),
];
const lacking =
  (missing.length > 0 ? `there is no ${missing.join(' and ')}` : undefined) ??
  (findNatsServer() === undefined ? 'there is no nats-server' : undefined);
const obstacle = labObstacle()?.message ?? (process.env.CI ? undefined : lacking);

let stage: AnycastStage;
afterAll(closeAllNetworks);

/** A tool at the client, with the file that it writes. */
interface Download {
  readonly tool: Tool;
  readonly child: ChildProcess;
  readonly file: string;
}

interface Wish {
  readonly url: string;
  readonly file: string;
  readonly ca: string;
  /** Kilobytes a second. */
  readonly rate: number;
}

/** How people download, and go on with what they have. None of it has spaces. */
const TOOLS = {
  curl: ({ url, file, ca, rate }: Wish) =>
    `curl -sS -L --cacert ${ca} --limit-rate ${rate}k --continue-at - --output ${file} ${url}`,
  wget: ({ url, file, ca, rate }: Wish) =>
    `wget -q -c --ca-certificate=${ca} --limit-rate=${rate}k --timeout=3 --tries=1 -O ${file} ${url}`,
  aria2c: ({ url, file, ca, rate }: Wish) =>
    `aria2c -q -c -x4 -s4 --ca-certificate=${ca} --max-overall-download-limit=${rate}K --timeout=3 --connect-timeout=3 --file-allocation=none -d ${dirname(file)} -o ${basename(file)} ${url}`,
} as const;
type Tool = keyof typeof TOOLS;

/** Five seconds for a file. */
const RATE = 2_000;
/** It does not end before the site does. */
const SLOW_RATE = 600;

let files = 0;
function download(
  tool: Tool,
  {
    via,
    file,
    rate = RATE,
  }: { readonly via?: SiteName; readonly file?: string; readonly rate?: number } = {},
): Download {
  const { atClient, network, certificates, urlOf } = stage;
  files += 1;
  const to = file ?? join(network.folder, `${tool}-${files}.bin`);
  const command = TOOLS[tool]({ url: urlOf(SIZE, via), file: to, ca: certificates.caFile, rate }).split(' ');
  return { tool, child: atClient(command, ['ignore', 'ignore', 'inherit']), file: to };
}

async function hasBegun({ file }: Download): Promise<void> {
  await expect
    .poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0, { timeout: SOON_MS })
    .toBeGreaterThan(0);
}

async function exitCode({ child }: Download): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function expectWhole(running: Download): Promise<void> {
  const code = await exitCode(running);
  const isWhole = readFileSync(running.file).equals(originBytes(SIZE));
  const { tool, child } = running;
  expect({ tool, code, signal: child.signalCode, isWhole }).toEqual({
    tool,
    code: 0,
    signal: null,
    isWhole: true,
  });
}

async function begun(...downloads: Download[]): Promise<Download[]> {
  for (const one of downloads) await hasBegun(one);
  return downloads;
}

describe.skipIf(obstacle !== undefined)(
  `masters of three sites behind one address${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`,
  { timeout: CASE_MS },
  () => {
    beforeAll(async () => {
      stage = await startAnycastStage({ sizesBytes: [SIZE], probeEveryMs: 100, bfdMs: BFD_MS });
      // Otherwise most of a file waits in the client's own buffers, whatever becomes of the site.
      stage.network.setReceiveBuffer('client', 256 * KIB);
    }, CASE_MS);

    // A case that fails leaves no dead master to those after it.
    afterEach(async () => {
      const { rj } = stage.sites;
      if (!isRunning(rj.master().pid)) await rj.restartMaster();
    });

    /** Waits for an answer of a site to a question that is asked from now on. */
    const answerOf = (site: SiteName) => stage.prober.answerOf(site, Date.now(), SOON_MS);

    test('are the next site, when a master dies, for new questions; downloads and the depot of that site go on', async () => {
      const running = await begun(
        download('curl', { via: 'rj' }),
        download('wget', { via: 'rj' }),
        download('aria2c', { via: 'rj' }),
      );
      process.kill(stage.sites.rj.master().pid, 'SIGKILL');
      await answerOf('pe');
      for (const one of running) await expectWhole(one);
      // Its own machine has given the address up, too: the depot that knows no other one is heard by the next site.
      await expect
        .poll(() => stage.depotsAt('pe'), { timeout: SOON_MS })
        .toMatchObject({ rj: 'up', pe: 'up', am: 'up' });
      await expectWhole(download('curl', { via: 'rj' }));
      await stage.sites.rj.restartMaster();
      await answerOf('rj');
    });

    test('answer every question when one of them is asked to end, but for those on their way when the route changes', async () => {
      const before = stage.prober.probes.length;
      const { pid } = stage.sites.rj.master();
      process.kill(pid, 'SIGTERM');
      const changed = await answerOf('pe');
      await expect.poll(() => isRunning(pid), { timeout: SOON_MS }).toBe(false);
      await answerOf('pe');
      const failed = stage.prober.probes.slice(before).filter(({ failure }) => failure !== undefined);
      expect(failed.filter(({ startedAtMs }) => startedAtMs > changed.endedAtMs)).toEqual([]);
      // Never refused: the master listened until nobody came any more.
      expect(failed.filter(({ failure }) => !failure?.includes('ECONNRESET'))).toEqual([]);
      await stage.sites.rj.restartMaster();
      await answerOf('rj');
    });

    test('are the next site when a site falls silent; what goes over other depots goes on, and the rest of a file is had there', async () => {
      const over = download('curl', { via: 'pe', rate: SLOW_RATE });
      const wget = download('wget', { via: 'rj', rate: SLOW_RATE });
      const aria2c = download('aria2c', { via: 'rj', rate: SLOW_RATE });
      await begun(over, wget, aria2c);
      stage.silence('rj');
      await answerOf('pe');
      await expectWhole(over);
      // A part of the file is there, and the one depot that wget knows does not answer.
      expect(await exitCode(wget)).not.toBe(0);
      expect(statSync(wget.file).size).toBeLessThan(SIZE);
      await expectWhole(download('wget', { file: wget.file }));
      // aria2c may end well by itself: it knows the other addresses of the answer (`Link: rel=duplicate`).
      await exitCode(aria2c);
      await expectWhole(download('aria2c', { file: aria2c.file }));
      await expect
        .poll(() => stage.depotsAt('pe'), { timeout: SOON_MS })
        .toMatchObject({ pe: 'up', am: 'up' });
    });

    test('are the third site, which runs ExaBGP, while the first is silent and the second drains', async () => {
      process.kill(stage.sites.pe.master().pid, 'SIGTERM');
      expect(await answerOf('am')).toMatchObject({ site: 'am' });
      await expectWhole(download('curl'));
    });

    test('are nobody at a site whose ExaBGP hangs, once its hold time is over, and that site again as soon as it goes on', async () => {
      const { am } = stage.announcers;
      am.kill('SIGSTOP');
      await expect.poll(stage.routeToMasters, { timeout: SOON_MS }).toBe('');
      am.kill('SIGCONT');
      expect(await answerOf('am')).toMatchObject({ site: 'am' });
    });

    test('are the first site again when that is back', async () => {
      stage.heal('rj');
      expect(await answerOf('rj')).toMatchObject({ site: 'rj' });
      await stage.sites.pe.restartMaster();
    });

    test('are one name for the add-on in both browsers, which have the rest of a file from the next site when one falls silent', async () => {
      const { atClient, certificates, network } = stage;
      const spec = {
        atClient,
        ca: certificates,
        masterUrl: MASTERS_URL,
        privateHosts: [...SITE_NAMES, 'origin'].map(network.addressOf),
      };
      const browsers = await Promise.all(BROWSERS.map((kind) => startClientBrowser(spec, kind)));
      await answerOf('rj');
      const sizes = () => browsers.map(({ file }) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
      const sent = [
        ['rj', await stage.sentBy('rj')],
        ['pe', await stage.sentBy('pe')],
      ] as const;
      await Promise.all(browsers.map(({ begin }) => begin(stage.pacedUrlOf(SIZE))));
      expect(Math.max(...sizes())).toBeLessThan(SIZE);
      stage.silence('rj');
      await answerOf('pe');
      await expect.poll(sizes, { timeout: CASE_MS / 2 }).toEqual(browsers.map(() => SIZE));
      for (const { file } of browsers) expect(readFileSync(file).equals(originBytes(SIZE))).toBe(true);
      // Either site has sent a part. The silent one counts what it had sent when it hears that nobody is
      // there any more.
      stage.heal('rj');
      for (const [site, before] of sent)
        await expect.poll(() => stage.sentBy(site), { timeout: SOON_MS }).toBeGreaterThan(before);
      await Promise.all(browsers.map(({ close }) => close()));
    });
  },
);
