import { LonghaulError } from '@longhaul/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OriginBusy } from '../../origin/joined-part.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';
import { KeptWhole } from './kept-whole.ts';

const REFUSED = new LonghaulError('origin-bad-answer');
const BUSY = new OriginBusy(503, undefined);

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});
afterEach(() => expect(vi.getTimerCount(), 'timers that run on').toBe(0));

function keep() {
  const reset = vi.fn<() => void>();
  const answer = { connection: { reset } } as unknown as FetchedAnswer;
  return { reset, answer, whole: new KeptWhole(answer) };
}

it('is left when enough blocks have come', () => {
  const { whole, reset } = keep();
  for (let blocks = 1; blocks < 32; blocks += 1) whole.noteBlock();
  expect(whole.isThere).toBe(true);
  whole.noteBlock();
  expect(whole.isThere).toBe(false);
  expect(reset).toHaveBeenCalledOnce();
});

it('is left after a while in which no block was refused', () => {
  const { whole, reset } = keep();
  whole.noteFailure(new LonghaulError('depot-unreachable'), true);
  vi.advanceTimersByTime(10_000);
  expect(whole.isThere).toBe(false);
  expect(reset).toHaveBeenCalledOnce();
});

it('stands for longer where one was, and goes on unbroken', () => {
  const { whole, answer, reset } = keep();
  whole.noteFailure(REFUSED, true);
  vi.advanceTimersByTime(10_000);
  expect(whole.take()).toBe(answer);
  expect(whole.take(), 'once').toBeUndefined();
  whole.leave();
  expect(reset).not.toHaveBeenCalled();
});

it('is left for a lane where the origin takes no further connection, and not where it answers no further question', () => {
  const { whole } = keep();
  expect(whole.noteFailure(BUSY, true)).toBe(false);
  expect(whole.isThere).toBe(true);
  expect(whole.noteFailure(BUSY, false)).toBe(true);
  expect(whole.isThere).toBe(false);
  expect(whole.noteFailure(BUSY, false), 'with nothing more to give').toBe(false);
});
