import { describe, expect, test } from 'vitest';
import type { TransferLine } from '../results/transfer-line.ts';
import { MATRIX } from './matrix.ts';
import { matrixTargets } from './matrix-targets.ts';

const BOUND_BPS = 80e6;
const IDS = MATRIX.scenarios.map(({ id }) => id);
const BY_HAND = ['direct', 'chain1-far', 'chain3', 'chain3-lanes8'];
const TARGETS = matrixTargets(IDS, BY_HAND, () => BOUND_BPS);

/** Three transfers of each variant, around its goodput in Mbit/s. */
function lines(scenario: string, mbps: Readonly<Record<string, number>>): TransferLine[] {
  return Object.entries(mbps).flatMap(([variant, median]) =>
    [0.9, 1, 1.3].map((factor, at) => ({
      experiment: 'matrix',
      scenario,
      variant,
      repeat: at + 1,
      seed: 1,
      sizeBytes: 31_457_280,
      seconds: 3,
      goodputBps: median * factor * 1e6,
      ttfbMs: 200,
      sha256Ok: true,
      latenessMs: 0,
      load: 1,
    })),
  );
}

function check(scenario: string, text: RegExp, made: readonly TransferLine[]) {
  const targets = TARGETS.filter((target) => target.scenario === scenario && text.test(target.text));
  expect(targets).toHaveLength(1);
  return targets[0]?.check(made);
}

describe('the targets of the matrix', () => {
  test('speak of scenarios that the matrix has', () => {
    expect(TARGETS.map(({ scenario }) => scenario).filter((id) => !IDS.includes(id))).toEqual([]);
  });

  test('hold every scenario against the best way chosen by hand', () => {
    const ofAll = TARGETS.filter(({ text }) => text.includes('chosen by hand'));
    expect(ofAll.map(({ scenario }) => scenario)).toEqual(IDS);
  });

  test.each([
    [10, true],
    [13, true],
    [15, false],
  ])('ask for five times direct under loss: against %d Mbit/s that is %s', (direct, isMet) => {
    const made = lines('loss1e-3-big', { direct, auto: 66 });
    expect(check('loss1e-3-big', /x direct/, made)).toMatchObject({ isMet });
  });

  test('take medians, so that one lucky or unlucky transfer decides nothing', () => {
    const made = lines('loss1e-3-big', { direct: 10, auto: 49 });
    const outcome = check('loss1e-3-big', /x direct/, made);
    expect(outcome?.isMet).toBe(false);
    expect(outcome?.measured).toContain('4.90');
  });

  test('hold what the planner reaches against the bound', () => {
    expect(check('loss1e-3-big', /of the bound/, lines('loss1e-3-big', { auto: 65 }))?.isMet).toBe(true);
    expect(check('loss1e-3-big', /of the bound/, lines('loss1e-3-big', { auto: 63 }))?.isMet).toBe(false);
  });

  test('let the planner be 7 % below the best chain, or below direct, whichever is better', () => {
    const near = (mbps: Readonly<Record<string, number>>) =>
      check('loss0-limited', /chosen by hand/, lines('loss0-limited', mbps));
    expect(near({ direct: 10, chain3: 60, auto: 56 })?.isMet).toBe(true);
    expect(near({ direct: 10, chain3: 60, auto: 55 })).toMatchObject({
      isMet: false,
      measured: expect.stringContaining('chain3'),
    });
    expect(near({ direct: 70, chain3: 60, auto: 60 })?.isMet).toBe(false);
    // A rival is not a way to choose.
    expect(near({ direct: 10, ranges8: 90, auto: 10 })?.isMet).toBe(true);
  });

  test('say that they do not know where a variant is missing', () => {
    for (const target of TARGETS) {
      expect(target.check([]).isMet).toBeNull();
      expect(target.check(lines(target.scenario, { direct: 10, ranges8: 10 })).isMet).toBeNull();
      expect(target.check(lines('elsewhere', { direct: 10, auto: 10 })).isMet).toBeNull();
    }
  });
});
