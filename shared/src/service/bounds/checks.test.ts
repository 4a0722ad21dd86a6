import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Checks } from './checks.ts';

let looks: string[];
let finish: (() => void)[];
let checks: Checks;

beforeEach(() => {
  vi.useFakeTimers();
  looks = [];
  finish = [];
  checks = new Checks({
    check: (id) => {
      looks.push(id);
      return new Promise((resolve) => finish.push(resolve));
    },
    pauseMs: 1000,
    most: 2,
  });
});
afterEach(() => {
  checks.close();
  vi.useRealTimers();
});

test('what is said of a thing has it looked at once at a time, and again after a pause where more was said', async () => {
  for (let said = 0; said < 5; said += 1) checks.ask('a');
  expect(looks).toEqual(['a']);
  finish[0]?.();
  await vi.advanceTimersByTimeAsync(999);
  expect(looks).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(looks).toEqual(['a', 'a']);
  finish[1]?.();
  await vi.advanceTimersByTimeAsync(1000);
  checks.ask('a');
  expect(looks, 'nothing was said in between').toHaveLength(3);
});

test('no more things are looked at than may be, and a closed one looks at nothing', async () => {
  expect(['a', 'b', 'c', 'b'].map((id) => checks.ask(id))).toEqual([true, true, false, true]);
  expect(looks).toEqual(['a', 'b']);
  checks.ask('a');
  checks.close();
  for (const done of finish) done();
  await vi.advanceTimersByTimeAsync(5000);
  expect(looks).toEqual(['a', 'b']);
});
