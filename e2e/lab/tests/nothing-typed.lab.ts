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
      directBps = (await fetchNext('direct')).goodputBps;
      for (let download = 0; download < DOWNLOADS; download += 1) {
        const { goodputBps, depots } = await fetchNext('auto');
        chains.push(depots);
        goodputs.push(goodputBps);
      }
    }, 240_000);
    afterAll(closeAllNetworks);

    test('has a first download that is no slower than the direct way, whichever way it goes', () => {
      expect(chains).toHaveLength(DOWNLOADS);
      // One download of each: losses alone make direct ones differ by half.
      expect((goodputs[0] ?? 0) / directBps).toBeGreaterThan(0.5);
    });

    test('has found a chain by the second, and is then several times as fast', () => {
      expect(Math.min(...chains.slice(1))).toBeGreaterThan(0);
      expect(median(goodputs.slice(1)) / directBps).toBeGreaterThan(1.5);
    });
  },
);
