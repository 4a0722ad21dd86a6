import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Experiment } from '../experiment.ts';
import { MATRIX } from '../experiments/matrix.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { planRun } from '../run/plan-run.ts';
import { runExperiment } from '../run/run-experiment.ts';

const REPEATS = 3;

/**
 * What is compared where. 10 MiB leave slow start behind; with random losses it takes the whole file until a
 * lucky start no longer decides.
 */
const PARTS = [
  { id: 'loss0-big', sizeBytes: 10 * MIB, ways: ['direct', 'chain3', 'auto'] },
  { id: 'loss0-limited', sizeBytes: 10 * MIB, ways: ['direct', 'chain1-near', 'auto'] },
  { id: 'loss1e-3-big', sizeBytes: 30 * MIB, ways: ['direct', 'chain3', 'auto'] },
];

const experiment: Experiment = {
  ...MATRIX,
  scenarios: PARTS.flatMap(({ id, sizeBytes, ways }) =>
    MATRIX.scenarios
      .filter((scenario) => scenario.id === id)
      .map((scenario) => {
        const variants = Object.entries(scenario.variants).filter(([way]) => ways.includes(way));
        return { ...scenario, sizeBytes, variants: Object.fromEntries(variants) };
      }),
  ),
};
const obstacle = labObstacle();

describe.skipIf(obstacle)(`a far download${obstacle ? ` (skipped: ${obstacle.message})` : ''}`, () => {
  const lines: TransferLine[] = [];
  const goodput = (scenario: string, variant: string) => {
    const found = lines.filter((line) => line.scenario === scenario && line.variant === variant);
    expect(found).toHaveLength(REPEATS);
    return median(found.map(({ goodputBps }) => goodputBps));
  };

  beforeAll(async () => {
    const plan = planRun(experiment, { quick: false, repeats: REPEATS, seed: 1 });
    await runExperiment(plan, () => false, {
      onPhase: () => {},
      onTransfer: (line) => lines.push(line),
      signal: new AbortController().signal,
    });
  }, 200_000);
  afterAll(closeAllNetworks);

  test('arrives byte by byte, whatever the way', () => {
    expect(lines).toHaveLength(PARTS.length * 3 * REPEATS);
    expect(lines.filter(({ sha256Ok, prefixOk }) => !(sha256Ok ?? prefixOk))).toEqual([]);
  });

  test('is at least three times as fast through one depot near a client with a small buffer', () => {
    expect(goodput('loss0-limited', 'chain1-near') / goodput('loss0-limited', 'direct')).toBeGreaterThan(3);
  });

  test('is at least three times as fast through depots when one packet of a thousand is lost', () => {
    expect(goodput('loss1e-3-big', 'chain3') / goodput('loss1e-3-big', 'direct')).toBeGreaterThan(3);
  });

  test('is not slower through depots on a clean path', () => {
    expect(goodput('loss0-big', 'chain3') / goodput('loss0-big', 'direct')).toBeGreaterThan(0.9);
  });

  test('leaves a line that says what was planned, and what every depot of its chain saw', () => {
    const through = lines.filter(({ chain }) => (chain?.length ?? 0) > 0);
    expect(through.length).toBeGreaterThan(0);
    for (const {
      chain = [],
      legs = [],
      lanes,
      predictedSeconds,
      predictedDirectSeconds,
      ...line
    } of through) {
      expect(lanes).toBeGreaterThanOrEqual(1);
      expect(line.deviceDrops).toBeGreaterThanOrEqual(0);
      expect(predictedSeconds).toBeGreaterThan(0);
      expect(predictedDirectSeconds).toBeGreaterThan(0);
      expect(new Set(legs.map(({ at }) => at))).toEqual(new Set(chain));
      const last = legs.find(({ to }) => to === 'client');
      // What a depot's kernel had still to send at the last look is not counted.
      if (line.sha256Ok && lanes === 1) expect(last?.sentBytes).toBeGreaterThan(line.sizeBytes / 2);
    }
  });

  test('goes as the planner says, and never much slower than directly', () => {
    for (const { id } of PARTS) expect(goodput(id, 'auto') / goodput(id, 'direct')).toBeGreaterThan(0.9);
    const chains = lines.filter(({ variant, scenario }) => variant === 'auto' && scenario !== 'loss0-big');
    expect(chains).toHaveLength((PARTS.length - 1) * REPEATS);
    expect(chains.map(({ chain }) => chain?.length ?? 0)).not.toContain(0);
  });
});
