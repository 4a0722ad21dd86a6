import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scenario } from '../experiment.ts';
import { BIG_BUFFER_BYTES, FOUR_LINKS_DEPOTS, fourLinks } from '../experiments/four-links.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { median } from '../results/statistics.ts';
import { chainOf, fetchVariant, requestOf } from '../stage/fetch-variant.ts';
import { type Stage, startStage } from '../stage/stage.ts';

/** One download after the other, of files that nobody has had before. */
const DOWNLOADS = 5;
/** Losses alone make direct downloads differ by half, so that one of them says little. */
const DIRECT = 3;

const scenario: Scenario = {
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
const obstacle = labObstacle();

describe.skipIf(obstacle)(
  `an overlay that was told of no link${obstacle ? ` (skipped: ${obstacle.message})` : ''}`,
  () => {
    let stage: Stage;
    /** Depots of each download. */
    const chains: number[] = [];
    const goodputs: number[] = [];
    let directBps = 0;

    /** Fetches the next file, and tells how many depots it came over. */
    const fetchNext = async (variant: 'direct' | 'auto') => {
      const kind = scenario.variants[variant];
      if (!kind) throw new Error(`no ${variant}`);
      const request = requestOf(stage, scenario, kind, null);
      const { seconds, isRight, error, finalUrl } = await fetchVariant(kind, request);
      if (!isRight) throw new Error(`${variant} came broken: ${error}`);
      const depots = chainOf(finalUrl)?.length ?? 0;
      return { goodputBps: (8 * scenario.sizeBytes) / seconds, depots };
    };

    beforeAll(async () => {
      stage = await startStage({ scenarios: [scenario], variants: ['direct', 'auto'], seed: 1 });
      const direct: number[] = [];
      for (let time = 0; time < DIRECT; time += 1) direct.push((await fetchNext('direct')).goodputBps);
      directBps = median(direct);
      for (let download = 0; download < DOWNLOADS; download += 1) {
        const { goodputBps, depots } = await fetchNext('auto');
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
  },
);
