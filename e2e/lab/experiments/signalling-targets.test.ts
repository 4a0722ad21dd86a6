import { describe, expect, test } from 'vitest';
import type { TransferLine } from '../results/transfer-line.ts';
import { SIGNALLING } from './signalling.ts';
import { SIGNALLING_TARGETS } from './signalling-targets.ts';

const line = (scenario: string, variant: string, ttfbMs: number, rest: Partial<TransferLine> = {}) => ({
  experiment: 'signalling',
  scenario,
  variant,
  repeat: 1,
  seed: 1,
  sizeBytes: 1000,
  seconds: ttfbMs / 1000,
  goodputBps: 1e6,
  ttfbMs,
  sha256Ok: true,
  latenessMs: 0,
  load: 1,
  ...rest,
});

function check(scenario: string, variant: string, lines: readonly TransferLine[]) {
  const found = SIGNALLING_TARGETS.filter(
    (target) => target.scenario === scenario && target.text.startsWith(`${variant}:`),
  );
  expect(found).toHaveLength(1);
  return found[0]?.check(lines);
}

describe('the targets of first bytes', () => {
  test('speak of scenarios and variants that are measured', () => {
    for (const { scenario, text } of SIGNALLING_TARGETS) {
      const known = SIGNALLING.scenarios.find(({ id }) => id === scenario);
      expect(Object.keys(known?.variants ?? {})).toContain(text.split(':')[0]);
    }
  });

  test('are met by what comes as early as they ask, and by nothing later', () => {
    const cold = (ms: number) => [line('http-cold', 'direct', 200), line('http-cold', 'cascade3', ms)];
    expect(check('http-cold', 'cascade3', cold(250))).toEqual({ measured: '+50 ms', isMet: true });
    expect(check('http-cold', 'cascade3', cold(251))).toMatchObject({ isMet: false });
    const warm = [line('http-warm', 'direct', 200), line('http-warm', 'cascade3', 187)];
    expect(check('http-warm', 'cascade3', warm)).toEqual({ measured: '−13 ms', isMet: true });
  });

  test('judge a small file by when it is whole', () => {
    const mouse = [
      line('mouse-100kB', 'direct', 200, { seconds: 0.5 }),
      line('mouse-100kB', 'auto', 100, { seconds: 0.51 }),
    ];
    expect(check('mouse-100kB', 'auto', mouse)).toEqual({ measured: '+10 ms', isMet: false });
  });

  test('leave out what failed, and say nothing of what was not measured', () => {
    const failed = [
      line('http-cold', 'direct', 200),
      line('http-cold', 'cascade3', 1, { sha256Ok: false, error: 'reset' }),
    ];
    expect(check('http-cold', 'cascade3', failed)).toEqual({ measured: 'not measured', isMet: null });
  });
});
