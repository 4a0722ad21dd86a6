import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReplayGuard } from './replay-guard.ts';

const stamp = (sequence: number, epoch = 'epoch-one') => ({ timeMs: 0, epoch, sequence });

describe('a request of a depot', () => {
  test('is taken once, in whatever order requests arrive', () => {
    const sequences = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 300 });
    fc.assert(
      fc.property(sequences, (arriving) => {
        const guard = new ReplayGuard();
        const taken = arriving.filter((sequence) => guard.take(stamp(sequence), 0));
        expect(taken).toEqual([...new Set(arriving)]);
      }),
    );
  });

  test('is refused when it is too old to tell, and memory stays bounded', () => {
    const guard = new ReplayGuard();
    for (let sequence = 1; sequence <= 10_000; sequence += 1) {
      expect(guard.take(stamp(sequence), 0)).toBe(true);
    }
    for (const sequence of [1, 5000, 9999, 10_000]) expect(guard.take(stamp(sequence), 0)).toBe(false);
  });

  test('is told from those of other processes of the depot, of which some are remembered', () => {
    const guard = new ReplayGuard();
    for (let epoch = 0; epoch < 64; epoch += 1) expect(guard.take(stamp(1, `epoch-${epoch}`), 0)).toBe(true);
    for (let epoch = 0; epoch < 64; epoch += 1) expect(guard.take(stamp(1, `epoch-${epoch}`), 0)).toBe(false);
  });

  test('is forgotten no earlier than its time alone refuses it', () => {
    const guard = new ReplayGuard();
    guard.take(stamp(1), 0);
    guard.take(stamp(1, 'epoch-two'), 120_000);
    expect(guard.take(stamp(1), 120_000)).toBe(false);
  });
});
