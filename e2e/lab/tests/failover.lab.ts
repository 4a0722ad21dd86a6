import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Experiment, Scenario } from '../experiments/experiment.ts';
import { FAILOVER } from '../experiments/failover.ts';
import { MATRIX } from '../experiments/matrix.ts';
import { labObstacle } from '../network/requirements.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { planRun } from '../run/plan-run.ts';
import { runExperiment } from '../run/run-experiment.ts';

/** Some variants of one scenario, with a file that suits a test. */
function only(experiment: Experiment, id: string, ways: readonly string[], sizeBytes: number): Experiment {
  const scenarios = experiment.scenarios
    .filter((scenario) => scenario.id === id)
    .map((scenario): Scenario => {
      const variants = Object.entries(scenario.variants).filter(([way]) => ways.includes(way));
      return { ...scenario, sizeBytes, variants: Object.fromEntries(variants) };
    });
  return { ...experiment, scenarios };
}

async function run(experiment: Experiment, repeats: number): Promise<TransferLine[]> {
  const lines: TransferLine[] = [];
  await runExperiment(planRun(experiment, { quick: false, repeats, seed: 1 }), () => false, {
    onPhase: () => {},
    onTransfer: (line) => lines.push(line),
    signal: new AbortController().signal,
  });
  return lines;
}

const obstacle = labObstacle();
const skipped = obstacle ? ` (skipped: ${obstacle.message})` : '';
afterAll(closeAllNetworks);

describe.skipIf(obstacle)(`a depot that breaks${skipped}`, () => {
  let middle: TransferLine | undefined;
  let entry: TransferLine | undefined;
  beforeAll(async () => {
    [middle] = await run({ ...only(FAILOVER, 'middle', ['fin-50'], 10 * MIB), cutSeconds: 15 }, 1);
    [entry] = await run({ ...only(FAILOVER, 'first', ['rst-50'], 10 * MIB), cutSeconds: 15 }, 1);
  }, 100_000);

  test('was in the middle of the chain, and the fault met the transfer half-way', () => {
    expect(middle).toMatchObject({ chain: ['near', 'middle', 'far'], fault: 'fin', atPercent: 50 });
  });

  // Remove `fails` when the entry depot goes on by itself.
  test.fails('is a pause for its client, and one uninterrupted download', () => {
    expect(middle).toMatchObject({ sha256Ok: true, attempts: 1 });
  });

  test('is no loss when it was the client’s own and curl -C - asks the master again', () => {
    expect(entry).toMatchObject({ sha256Ok: true, fault: 'rst', position: 'first' });
    expect(entry?.attempts).toBeGreaterThan(1);
  });
});

describe.skipIf(obstacle)(`lanes${skipped}`, () => {
  const REPEATS = 2;
  let lines: readonly TransferLine[] = [];
  const goodput = (variant: string) => {
    const found = lines.filter((line) => line.variant === variant);
    expect(found).toHaveLength(REPEATS);
    return median(found.map(({ goodputBps }) => goodputBps));
  };
  beforeAll(async () => {
    const experiment = only(MATRIX, 'loss1e-2-big', ['chain3', 'chain3-lanes8'], 10 * MIB);
    lines = await run({ ...experiment, cutSeconds: 6 }, REPEATS);
  }, 100_000);

  // Remove `fails` when the master understands `lanes=`.
  test.fails('carry at least twice as much over one chain when one packet of a hundred is lost', () => {
    expect(lines.filter(({ sha256Ok, prefixOk }) => !(sha256Ok ?? prefixOk))).toEqual([]);
    expect(goodput('chain3-lanes8') / goodput('chain3')).toBeGreaterThan(2);
  });
});
