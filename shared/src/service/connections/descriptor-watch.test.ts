import { expect, onTestFinished, test, vi } from 'vitest';
import { watchDescriptors } from './descriptor-watch.ts';

test('a service that has no descriptor left is told so for as long as that lasts', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isLeft = true;
  let times = 0;
  const stop = watchDescriptors(
    () => (times += 1),
    () => isLeft,
  );
  const timesWhile = (is: boolean) => {
    times = 0;
    isLeft = is;
    vi.advanceTimersByTime(10_000);
    return times;
  };
  expect([true, false, true].map(timesWhile)).toEqual([0, 2, 0]);
  stop();
  expect(timesWhile(false)).toBe(0);
});
