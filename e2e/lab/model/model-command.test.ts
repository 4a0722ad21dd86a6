import { MIB } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { readCommandLine, USAGE } from '../command-line.ts';
import { describeRun } from '../results/run-info.ts';
import { drawnExperiment } from './drawn-chains.ts';
import { GRID_CELLS, LEG_VARIANT } from './grid-cells.ts';
import { imaginedLegs, imaginedLine } from './imagined-lines.ts';
import { readModelCommand } from './model-command.ts';
import { modelPage } from './model-page.ts';
import { estimateModel, leftOf, planModel } from './plan-model.ts';

const optionsOf = (...args: readonly string[]) => readModelCommand(args).options;

describe('the command', () => {
  test('refuses with every mistake at once, and is in the help', () => {
    expect(() => readCommandLine(['model', 'fast', '--repeat', 'often', '--topologies', '100'])).toThrow(
      /'fast' means nothing here; --repeat often must be .*; --topologies 100 must be/,
    );
    expect(readCommandLine(['model', '--quick'])).toMatchObject({ kind: 'model', options: { repeats: 2 } });
    expect(USAGE).toContain('npm run lab -- model [--quick]');
  });

  test('refuses ids that nothing has', () => {
    expect(() => planModel(optionsOf('--scenarios', 'reno'))).toThrow(/such an id/);
  });
});

describe('the plan', () => {
  test('measures the whole grid ten times and the drawn topologies within an hour', () => {
    const plan = planModel(optionsOf());
    expect(plan.legs).toHaveLength(10 * GRID_CELLS.length);
    const { grid, drawn } = estimateModel(plan);
    expect(grid / 60).toBeLessThan(30);
    expect(drawn / 60).toBeLessThan(25);
  });

  test('is the same for the same options, and has all repeats of one number before the next', () => {
    const order = (seed: string) =>
      planModel(optionsOf('--seed', seed, '--topologies', '0')).legs.map(({ cell }) => cell.scenario.id);
    expect(order('1')).toEqual(order('1'));
    expect(order('1')).not.toEqual(order('2'));
    expect(new Set(order('1').slice(0, GRID_CELLS.length)).size).toBe(GRID_CELLS.length);
  });

  test('is a fraction of that when it has to be quick, without large files', () => {
    const { legs, transferCount } = planModel(optionsOf('--quick'));
    expect(transferCount).toBeLessThan(120);
    expect(legs.filter(({ cell }) => cell.sizeBytes > 10 * MIB)).toEqual([]);
  });

  test('goes on with what is not there yet', () => {
    const plan = planModel(optionsOf('--scenarios', 'cubic-10ms-0-big-q2-3M,t01', '--repeat', '2'));
    const [cell] = plan.legs;
    const [topology] = plan.drawn?.scenarios ?? [];
    if (!cell || !topology) throw new Error('nothing is planned');
    const left = leftOf(plan, [
      imaginedLine(cell.cell.scenario.id, LEG_VARIANT, 1, { repeat: 2 }),
      imaginedLine(topology.id, 'chain', 1),
    ]);
    expect(left.legs).toEqual([{ cell: cell.cell, repeat: 1 }]);
    expect(left.isDone({ scenario: topology, variant: 'chain', repeat: 1, seed: 0 })).toBe(true);
    expect(left.isDone({ scenario: topology, variant: 'direct', repeat: 1, seed: 0 })).toBe(false);
  });
});

test('a result becomes a page that names what is wanted, the worst ways, regret and constants', () => {
  const info = describeRun({
    experiment: 'model',
    planFingerprint: 'x',
    command: 'npm run lab -- model',
    options: { repeat: 2, quick: false, cutSeconds: 30, seed: 1 },
    programs: [],
  });
  const topologies = drawnExperiment(1, 3).scenarios;
  const lines = [
    ...GRID_CELLS.flatMap((cell) => imaginedLegs(cell, 2, 2.5)),
    ...topologies.flatMap(({ id, variants }) => Object.keys(variants).map((way) => imaginedLine(id, way, 3))),
  ];
  const page = modelPage({ info, lines });
  expect(page).toMatch(/\| drawn topologies: e, median \| [0-9.]+ \| 0.05 \| (yes|\*\*no\*\*) \|/);
  expect(page).toContain('over 3 drawn topologies');
  expect(page).toContain('| sender and loss | cubic, 0.03 |');
  expect(page).toMatch(/\| `timeoutShare` \| 0.333 \| [0-9.]+ \|/);
  expect(page).toContain(`All ${GRID_CELLS.length + lines.length - 2 * GRID_CELLS.length} ways`);
  expect(page).not.toContain('NaN');
  expect(modelPage({ info, lines: [] })).toContain('0 transfers made so far');
});
