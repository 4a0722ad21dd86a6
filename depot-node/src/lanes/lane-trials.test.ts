import { describe, expect, test } from 'vitest';
import { LaneTrials } from './lane-trials.ts';

describe('a lane that came back', () => {
  let nowMs = 0;
  const bring = (trials: LaneTrials, sizeBytes: number, forMs: number) => {
    nowMs += forMs;
    trials.noteBytes(sizeBytes);
  };

  test.each([
    ['is kept when the whole is no slower with it', 10_000, false],
    ['is kept when the whole swings a little', 9000, false],
    ['is removed when the whole is slower with it', 8000, true],
  ])('%s', (_, bytesWithIt, hasLowered) => {
    const trials = new LaneTrials(() => nowMs);
    trials.noteChange();
    bring(trials, 10_000, 2000);
    trials.begin(3);
    bring(trials, bytesWithIt, 2000);
    expect(trials.hasLowered(3)).toBe(hasLowered);
    // Judged once.
    bring(trials, 0, 10_000);
    expect(trials.hasLowered(3)).toBe(false);
  });

  test('is not judged by too short a time, by rests of the client, or across changes of other lanes', () => {
    const trials = new LaneTrials(() => nowMs);
    bring(trials, 10_000, 2000);
    trials.begin(3);
    bring(trials, 0, 500);
    expect(trials.hasLowered(3)).toBe(false);
    trials.pause();
    nowMs += 60_000;
    trials.resume();
    bring(trials, 10_000, 1500);
    expect(trials.hasLowered(3)).toBe(false);

    trials.begin(4);
    trials.noteChange();
    bring(trials, 0, 5000);
    expect(trials.hasLowered(4)).toBe(false);
  });
});
