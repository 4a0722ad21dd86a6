import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scenario } from '../experiment.ts';
import {
  BIG_BUFFER_BYTES,
  FOUR_LINKS_DEPOTS,
  fourLinks,
  LIMITED_BUFFER_BYTES,
} from '../experiments/four-links.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { median } from '../results/statistics.ts';
import { planBehind } from '../stage/asked-plan.ts';
import { chainOf, fetchVariant, requestOf } from '../stage/fetch-variant.ts';
import { type Stage, startStage } from '../stage/stage.ts';

/** One download after the other, of files that nobody has had before. */
const DOWNLOADS = 5;
/** Losses make direct downloads differ by half, so that one of them says little. */
const DIRECT = 3;
/** The depots tell of the window with a heartbeat after the first one that comes over them. */
const WINDOW_DOWNLOADS = 4;

const lossy: Scenario = {
  id: 'untold',
  label: 'nothing typed',
  topology: fourLinks({ pathLoss: 1e-3, clientBufferBytes: BIG_BUFFER_BYTES, originControl: 'cubic' }),
  client: 'client',
  origin: 'origin',
  depots: FOUR_LINKS_DEPOTS,
  sizeBytes: 20 * MIB,
  isUntold: true,
  variants: { direct: { kind: 'direct' }, auto: { kind: 'auto' } },
};
/** What holds the direct way back is the window of the client alone. */
const narrow: Scenario = {
  ...lossy,
  id: 'untold-window',
  topology: fourLinks({ pathLoss: 0, clientBufferBytes: LIMITED_BUFFER_BYTES, originControl: 'cubic' }),
};
const obstacle = labObstacle();

interface Fetched {
  readonly goodputBps: number;
  /** Of the chain that it came over. */
  readonly depots: number;
  readonly seconds: number;
  /** What the master says of the direct way afterwards. */
  readonly predictedDirectSeconds: number | undefined;
}

/** Fetches the next file in one of two ways. */
async function fetchNext(stage: Stage, scenario: Scenario, variant: 'direct' | 'auto'): Promise<Fetched> {
  const kind = scenario.variants[variant];
  if (!kind) throw new Error(`no ${variant}`);
  const request = requestOf(stage, scenario, kind, null);
  const { seconds, isRight, error, finalUrl } = await fetchVariant(kind, request);
  if (!isRight) throw new Error(`${variant} came broken: ${error}`);
  const plan = kind.kind === 'auto' ? await planBehind(stage.network, request) : undefined;
  return {
    goodputBps: (8 * scenario.sizeBytes) / seconds,
    depots: chainOf(finalUrl)?.length ?? 0,
    seconds,
    predictedDirectSeconds: plan?.direct.seconds,
  };
}

describe.skipIf(obstacle)(
  `an overlay that was told of no link${obstacle ? ` (skipped: ${obstacle.message})` : ''}`,
  () => {
    /** Depots of each download. */
    const chains: number[] = [];
    const goodputs: number[] = [];
    let directBps = 0;

    beforeAll(async () => {
      const stage = await startStage({ scenarios: [lossy], variants: ['direct', 'auto'], seed: 1 });
      const direct: number[] = [];
      for (let time = 0; time < DIRECT; time += 1)
        direct.push((await fetchNext(stage, lossy, 'direct')).goodputBps);
      directBps = median(direct);
      for (let download = 0; download < DOWNLOADS; download += 1) {
        const { goodputBps, depots } = await fetchNext(stage, lossy, 'auto');
        chains.push(depots);
        goodputs.push(goodputBps);
      }
    }, 240_000);
    afterAll(closeAllNetworks);

    test('leads the first download over depots only where these are no slower than the direct way', () => {
      expect(chains).toHaveLength(DOWNLOADS);
      const [depots, goodputBps = 0] = [chains[0], goodputs[0]];
      // A direct one is the direct way, whatever it lost.
      expect(depots === 0 ? 1 : goodputBps / directBps).toBeGreaterThanOrEqual(1);
    });

    test('has found a chain by the second, and is then several times as fast', () => {
      expect(Math.min(...chains.slice(1))).toBeGreaterThan(0);
      expect(median(goodputs.slice(1)) / directBps).toBeGreaterThan(1.5);
    });

    test('knows what a small window of the client leaves the direct way, though it sees it on short legs alone', async () => {
      const stage = await startStage({ scenarios: [narrow], variants: ['direct', 'auto'], seed: 1 });
      // The first one may begin while depots test the links that it goes over: what such a test fills drops
      // packets of a young connection (19 s for 13.5).
      const direct: number[] = [];
      while (direct.length < DIRECT) direct.push((await fetchNext(stage, narrow, 'direct')).seconds);
      const downloads: Fetched[] = [];
      while (downloads.length < WINDOW_DOWNLOADS) downloads.push(await fetchNext(stage, narrow, 'auto'));
      const predicted = downloads.at(-1)?.predictedDirectSeconds ?? 0;
      // Where its round trip lies depots know by their triangles alone.
      expect(Math.abs(Math.log(predicted / median(direct)))).toBeLessThan(0.5);
      expect(downloads.at(-1)?.depots).toBeGreaterThan(0);
    }, 180_000);
  },
);
