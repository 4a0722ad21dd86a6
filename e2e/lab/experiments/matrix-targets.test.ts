import { describe, expect, test } from 'vitest';
import type { TransferLine } from '../results/transfer-line.ts';
import { MATRIX } from './matrix.ts';
import { reportPlanOf } from './report-plan-of.ts';

const TARGETS = reportPlanOf(MATRIX).targets ?? [];

/** Three transfers of each variant, around its goodput in Mbit/s. */
function lines(
  scenario: string,
  mbps: Readonly<Record<string, number>>,
  rest: (variant: string) => Partial<TransferLine> = () => ({}),
): TransferLine[] {
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
      ...rest(variant),
    })),
  );
}

function check(scenario: string, text: RegExp, made: readonly TransferLine[]) {
  const targets = TARGETS.filter((target) => target.scenario === scenario && text.test(target.text));
  expect(targets).toHaveLength(1);
  return targets[0]?.check(made);
}

describe('the targets of the matrix', () => {
  test('hold auto against the best way with one client connection, rivals included, and no other', () => {
    const made = lines('loss0-limited', { direct: 12, ranges8: 79, haproxy3: 57, chain3: 58, auto: 56 });
    expect(check('loss0-limited', /as many client connections/, made)).toEqual({
      measured: '0.97 of chain3',
      isMet: false,
    });
    const better = lines('loss0-limited', { direct: 12, ranges8: 79, haproxy3: 57, chain3: 58, auto: 57 });
    expect(check('loss0-limited', /as many client connections/, better)).toMatchObject({ isMet: true });
  });

  test('hold auto against the strongest rival of all where loss is high', () => {
    const made = lines('loss1e-2-big', { direct: 2, ranges8: 15, 'haproxy3-ranges8': 71, auto: 76 });
    expect(check('loss1e-2-big', /strongest rival/, made)).toEqual({
      measured: '1.07 of haproxy3-ranges8',
      isMet: false,
    });
    expect(check('loss1e-2-big', /at least 76 Mbit/, made)).toMatchObject({ isMet: true });
  });

  test('ask that lanes cost nothing, in every row', () => {
    const made = lines('loss0-big', { chain3: 80, 'chain3-lanes4': 74, 'chain3-lanes8': 78 });
    expect(check('loss0-big', /^chain3-lanes4/, made)).toEqual({ measured: '0.93 of chain3', isMet: false });
    expect(check('loss0-big', /^chain3-lanes8 /, made)).toMatchObject({ isMet: true });
  });

  test('ask on paths nobody tuned for that auto is not below direct', () => {
    const made = lines('jitter-every', { direct: 70, chain3: 75, auto: 72 });
    expect(check('jitter-every', /x direct/, made)).toEqual({ measured: '1.03 of direct', isMet: true });
    expect(check('jitter-every', /best way/, made)).toEqual({ measured: '0.96 of chain3', isMet: true });
  });

  test('ask what others keep beside auto, by as many direct connections as it has lanes', () => {
    const others: Readonly<Record<string, number>> = {
      direct: 60e6,
      ranges4: 40e6,
      ranges8: 30e6,
      auto: 38e6,
    };
    const made = lines('cross-middle', { direct: 30, ranges4: 40, ranges8: 50, auto: 60 }, (variant) => ({
      crossBps: others[variant] ?? 0,
      ...(variant === 'auto' ? { lanes: 4 } : {}),
    }));
    expect(check('cross-middle', /others keep/, made)).toEqual({
      measured: '0.95 of beside ranges4',
      isMet: true,
    });
  });

  test('say nothing of what was not measured', () => {
    for (const { check: judge } of TARGETS)
      expect(judge([])).toEqual({ measured: 'not measured', isMet: null });
  });
});
