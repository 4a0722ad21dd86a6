import { expect, test } from 'vitest';
import { secondsWithBreaks } from './breaks.ts';

test('a transfer that never breaks takes its time', () => {
  expect(secondsWithBreaks(100, 0)).toBe(100);
});

test('a short one costs on average half of itself at each break', () => {
  expect(secondsWithBreaks(100, 1e-5)).toBeCloseTo(100 + 1e-5 * 100 * 50, 4);
});

test('it takes as long as simulated ones do', () => {
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const [seconds, rate, times] = [10, 0.1, 20_000];
  let sum = 0;
  for (let run = 0; run < times; run += 1) {
    for (let next = -Math.log(random()) / rate; next < seconds; next = -Math.log(random()) / rate)
      sum += next;
    sum += seconds;
  }
  expect(sum / times / secondsWithBreaks(seconds, rate)).toBeCloseTo(1, 1);
});
