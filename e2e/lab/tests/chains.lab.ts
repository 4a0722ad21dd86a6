import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MATRIX } from '../experiments/matrix.ts';
import { labObstacle } from '../network/requirements.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { planRun } from '../run/plan-run.ts';
import { runExperiment } from '../run/run-experiment.ts';

/** Long enough to leave slow start behind, short enough for a test. */
const SIZE_BYTES = 10 * MIB;
const REPEATS = 3;

const SCENARIOS = ['loss0-big', 'loss1e-3-big', 'loss0-limited'];
const VARIANTS = ['direct', 'chain1-near', 'chain3', 'auto'];

const experiment = {
  ...MATRIX,
  scenarios: MATRIX.scenarios.map((scenario) => ({ ...scenario, sizeBytes: SIZE_BYTES })),
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
    const plan = planRun(experiment, {
      quick: false,
      repeats: REPEATS,
      seed: 1,
      scenarios: SCENARIOS,
      variants: VARIANTS,
    });
    await runExperiment(plan, () => false, {
      onPhase: () => {},
      onTransfer: (line) => lines.push(line),
      signal: new AbortController().signal,
    });
  }, 200_000);
  afterAll(closeAllNetworks);

  test('arrives byte by byte, whatever the way', () => {
    expect(lines).toHaveLength(SCENARIOS.length * VARIANTS.length * REPEATS);
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

  test('goes as the planner says, and never much slower than directly', () => {
    for (const scenario of SCENARIOS)
      expect(goodput(scenario, 'auto') / goodput(scenario, 'direct')).toBeGreaterThan(0.9);
    const chains = lines.filter(({ variant, scenario }) => variant === 'auto' && scenario !== 'loss0-big');
    expect(chains).toHaveLength((SCENARIOS.length - 1) * REPEATS);
    expect(chains.map(({ chain }) => chain?.length ?? 0)).not.toContain(0);
  });
});
