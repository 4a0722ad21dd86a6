import { MIB } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Experiment, Scenario } from '../experiment.ts';
import { FAILOVER } from '../experiments/failover.ts';
import { MATRIX } from '../experiments/matrix.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { planRun } from '../run/plan-run.ts';
import { runExperiment } from '../run/run-experiment.ts';

/** Some variants of some scenarios, with a file that suits a test. */
function only(
  experiment: Experiment,
  waysOf: Readonly<Record<string, readonly string[]>>,
  rest: Pick<Scenario, 'sizeBytes'> & Pick<Experiment, 'cutSeconds'>,
): Experiment {
  const { sizeBytes, cutSeconds } = rest;
  const scenarios = experiment.scenarios.flatMap((scenario): Scenario[] => {
    const ways = waysOf[scenario.id];
    const variants = Object.entries(scenario.variants).filter(([way]) => ways?.includes(way));
    return ways ? [{ ...scenario, sizeBytes, variants: Object.fromEntries(variants) }] : [];
  });
  return { ...experiment, scenarios, cutSeconds };
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
    const ways = { first: ['rst-50'], middle: ['fin-50'] };
    const lines = await run(only(FAILOVER, ways, { sizeBytes: 10 * MIB, cutSeconds: 15 }), 1);
    entry = lines.find(({ scenario }) => scenario === 'first');
    middle = lines.find(({ scenario }) => scenario === 'middle');
  }, 100_000);

  test('was in the middle of the chain, and the fault met the transfer half-way', () => {
    expect(middle).toMatchObject({ chain: ['near', 'middle', 'far'], fault: 'fin', atPercent: 50 });
  });

  test('is a pause for its client, and one uninterrupted download', () => {
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
    const ways = { 'loss1e-2-big': ['chain3', 'chain3-lanes8'] };
    // Of a short file much is the first block, which comes over one lane.
    lines = await run(only(MATRIX, ways, { sizeBytes: 30 * MIB, cutSeconds: 5 }), REPEATS);
  }, 100_000);

  test('carry at least twice as much over one chain when one packet of a hundred is lost', () => {
    expect(lines.filter(({ sha256Ok, prefixOk }) => !(sha256Ok ?? prefixOk))).toEqual([]);
    expect(goodput('chain3-lanes8') / goodput('chain3')).toBeGreaterThan(2);
  });
});
