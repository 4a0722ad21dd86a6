import { describe, expect, test } from 'vitest';
import { DelayWatch } from './delay-watch.ts';

const BEAT_MS = 500;
/** What the receiver's clock is ahead of the sender's, and the way's delay. */
const USUAL_MS = 7_020;

/** A receiver that has heard a sender in time so far. */
function hearing() {
  const watch = new DelayWatch();
  const isLate = (sentMs: number, tookMs: number) => watch.isLate('one', sentMs, sentMs + tookMs);
  for (let sentMs = 0; sentMs < 10_000; sentMs += BEAT_MS) isLate(sentMs, USUAL_MS);
  return isLate;
}

/** What is late of messages that were sent at these times, each of which took so long. */
const lateOf = (isLate: ReturnType<typeof hearing>, messages: readonly (readonly [number, number])[]) =>
  messages.filter(([sentMs, tookMs]) => isLate(sentMs, tookMs)).length;

const beats = (fromMs: number, many: number) =>
  Array.from({ length: many }, (_, beat) => fromMs + beat * BEAT_MS);

describe('a sender whose clock stood still for a minute', () => {
  const ASLEEP_MS = 60_000;
  /** As far as ways differ from one message to the next. */
  const jitter = (beat: number) => (beat % 3) * 200;

  test('is late for seconds, not for minutes', () => {
    const isLate = hearing();
    const told = beats(10_000, 100).map(
      (sentMs, beat) => [sentMs, USUAL_MS + ASLEEP_MS + jitter(beat)] as const,
    );
    expect(lateOf(isLate, told)).toBe(19);
    const heldUp = 4_000;
    expect(isLate(60_000, USUAL_MS + ASLEEP_MS + heldUp), 'what is held up after that').toBe(true);
  });

  test('may sleep again', () => {
    const isLate = hearing();
    for (let nap = 1; nap <= 3; nap += 1) {
      const told = beats(nap * 20_000, 30).map((sentMs) => [sentMs, USUAL_MS + nap * ASLEEP_MS] as const);
      expect(lateOf(isLate, told)).toBe(19);
    }
  });

  test('is as late as ever where some come in time meanwhile', () => {
    const isLate = hearing();
    const told = beats(10_000, 100).map(
      (sentMs, beat) => [sentMs, USUAL_MS + (beat % 10 === 9 ? 0 : ASLEEP_MS)] as const,
    );
    expect(lateOf(isLate, told)).toBe(90);
  });
});

describe('a burst that was held up is late as a whole', () => {
  test('where it was told over a minute, and comes at once', () => {
    const isLate = hearing();
    const told = beats(10_000, 120).map((sentMs) => [sentMs, USUAL_MS + 80_000 - sentMs] as const);
    const heldUp = told.filter(([, tookMs]) => tookMs - USUAL_MS > 3_000);
    expect(heldUp.length).toBeGreaterThan(100);
    expect(lateOf(isLate, told)).toBe(heldUp.length);
  });

  test('where it was told at once, however much that is', () => {
    const isLate = hearing();
    const told = Array.from({ length: 1_000 }, (_, part) => [10_000 + part, USUAL_MS + 9_000] as const);
    expect(lateOf(isLate, told)).toBe(1_000);
  });
});
