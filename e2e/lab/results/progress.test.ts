import { describe, expect, it } from 'vitest';
import { progressLine, secondsLeft } from './progress.ts';
import type { TransferLine } from './transfer-line.ts';

const line = (
  scenario: string,
  variant: string,
  seconds: number,
  rest: Partial<TransferLine> = {},
): TransferLine => ({
  experiment: 'matrix',
  scenario,
  variant,
  repeat: 1,
  seed: 1,
  sizeBytes: 31_457_280,
  seconds,
  goodputBps: 74.1e6,
  ttfbMs: 200,
  sha256Ok: true,
  latenessMs: 0,
  load: 1,
  ...rest,
});

describe('the time left', () => {
  const done = [line('clean', 'direct', 4), line('clean', 'direct', 6), line('lossy', 'chain3', 9)];

  it('is judged by the same scenario and variant where there are some', () => {
    expect(secondsLeft(done, [{ scenario: 'clean', variant: 'direct' }])).toBeCloseTo(5);
  });

  it('is judged by the same variant elsewhere, else by all', () => {
    expect(secondsLeft(done, [{ scenario: 'clean', variant: 'chain3' }])).toBeCloseTo(9);
    expect(secondsLeft(done, [{ scenario: 'clean', variant: 'aria2-16' }])).toBeCloseTo(19 / 3);
  });

  it('adds up, with what the driver needs in between', () => {
    const pending = [
      { scenario: 'clean', variant: 'direct' },
      { scenario: 'lossy', variant: 'chain3' },
    ];
    expect(secondsLeft(done, pending, 0.5)).toBeCloseTo(15);
    expect(secondsLeft(done, [])).toBe(0);
  });

  it('is unknown before the first transfer', () => {
    expect(secondsLeft([], [{ scenario: 'clean', variant: 'direct' }])).toBeNull();
  });
});

describe('the line of progress', () => {
  it('says what was just measured and how long it goes on', () => {
    expect(progressLine(line('loss1e-3-big', 'chain3', 3.4), 12, 150, 480)).toBe(
      '[ 12/150] loss1e-3-big chain3 74.1 Mbit/s in 3.4 s · about 8 min left',
    );
    expect(progressLine(line('a', 'b', 12, { cut: true, sha256Ok: null }), 1, 9, 20)).toBe(
      '[1/9] a b 74.1 Mbit/s in 12.0 s (cut) · about 20 s left',
    );
    expect(progressLine(line('a', 'b', 1), 1, 9, 7300)).toMatch(/about 2 h 2 min left$/);
  });

  it('says loudly what failed', () => {
    const failed = line('a', 'b', 1, { error: 'curl: (7) refused', sha256Ok: false, goodputBps: 0 });
    expect(progressLine(failed, 9, 9, 0)).toBe('[9/9] a b FAILED: curl: (7) refused in 1.0 s');
    expect(progressLine(line('a', 'b', 1, { sha256Ok: false }), 9, 9, 0)).toContain('the bytes are wrong');
  });
});
