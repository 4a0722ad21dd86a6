import { describe, expect, test } from 'vitest';
import type { TransferLine } from '../results/transfer-line.ts';
import { FAILOVER } from './failover.ts';
import { failoverTargets } from './failover-targets.ts';

const TARGETS = failoverTargets(FAILOVER.scenarios);

const line = (scenario: string, rest: Partial<TransferLine>): TransferLine => ({
  experiment: 'failover',
  scenario,
  variant: 'fin-50',
  repeat: 1,
  seed: 1,
  sizeBytes: 1000,
  seconds: 3,
  goodputBps: 7e7,
  ttfbMs: 200,
  sha256Ok: true,
  latenessMs: 0,
  load: 1,
  fault: 'fin',
  atPercent: 50,
  pauseMs: 300,
  attempts: 1,
  ...rest,
});
const check = (scenario: string, text: RegExp, lines: readonly TransferLine[]) => {
  const [target, ...others] = TARGETS.filter((one) => one.scenario === scenario && text.test(one.text));
  expect(others).toEqual([]);
  return target?.check(lines);
};

describe('the targets of failover', () => {
  test('do not know without transfers, nor from undisturbed ones', () => {
    for (const target of TARGETS) {
      expect(target.check([]).isMet).toBeNull();
      expect(target.check([line(target.scenario, { fault: undefined })]).isMet).toBeNull();
    }
  });

  test('are missed by a single file that is not whole or came in two goes', () => {
    const good = line('middle', {});
    expect(check('middle', /uninterrupted/, [good])?.isMet).toBe(true);
    expect(check('middle', /uninterrupted/, [good, line('middle', { sha256Ok: false })])).toEqual({
      measured: '1 of 2',
      isMet: false,
    });
    expect(check('middle', /uninterrupted/, [good, line('middle', { sha256Ok: null })])?.isMet).toBe(false);
    expect(check('middle', /uninterrupted/, [good, line('middle', { attempts: 2 })])?.isMet).toBe(false);
  });

  test('allow two seconds after FIN and RST, and let silence take its time', () => {
    expect(check('last', /pause/, [line('last', { pauseMs: 2000 })])?.isMet).toBe(true);
    expect(check('last', /pause/, [line('last', { fault: 'rst', pauseMs: 2001 })])?.isMet).toBe(false);
    expect(
      check('last', /pause/, [line('last', {}), line('last', { fault: 'silence', pauseMs: 6000 })]),
    ).toEqual({
      measured: '1 of 1',
      isMet: true,
    });
  });

  test('ask of the first depot only that the file is resumed', () => {
    const resumed = line('first', { attempts: 5, pauseMs: 12_000 });
    expect(TARGETS.filter(({ scenario }) => scenario === 'first')).toHaveLength(1);
    expect(check('first', /resume|curl -C/, [resumed])?.isMet).toBe(true);
  });
});
