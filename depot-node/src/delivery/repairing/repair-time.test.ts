import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RepairTime } from './repair-time.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const begin = (outageMs = 600_000) => new RepairTime({ repairMs: 90_000, outageMs }, () => performance.now());

describe('a repair', () => {
  test('has its time once somebody has answered, and ends with it', () => {
    const time = begin();
    time.noteAnswer();
    vi.advanceTimersByTime(89_999);
    expect(time.isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(time.isOver).toBe(true);
  });

  test('goes on while nobody answers, for as long as that may take', () => {
    const time = begin();
    vi.advanceTimersByTime(599_999);
    expect(time).toMatchObject({ isOutage: true, isExtended: true, isOver: false });
    vi.advanceTimersByTime(1);
    expect(time.isOver).toBe(true);
  });

  test('has its usual time from the first answer on, when that comes late', () => {
    const time = begin();
    vi.advanceTimersByTime(300_000);
    time.noteAnswer();
    vi.advanceTimersByTime(50_000);
    time.noteAnswer();
    vi.advanceTimersByTime(39_999);
    expect(time).toMatchObject({ isOutage: false, isOver: false });
    vi.advanceTimersByTime(1);
    expect(time.isOver).toBe(true);
  });

  test('waits as long as it is asked to besides', () => {
    const time = begin();
    vi.advanceTimersByTime(60_000);
    time.noteAnswer(120_000);
    vi.advanceTimersByTime(209_999);
    expect(time.isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(time.isOver).toBe(true);
  });

  test('waits ten minutes in all, however often it is asked to', () => {
    const time = begin();
    let rests = 0;
    for (; rests < 1000 && time.mayRest(1000); rests += 1) {
      time.noteAnswer(1000);
      vi.advanceTimersByTime(1000);
    }
    expect([rests, time.isOver]).toEqual([600, false]);
    vi.advanceTimersByTime(90_000);
    expect(time.isOver).toBe(true);
  });

  test('is asked for what is left of a rest in each round, and grants it', () => {
    const time = begin();
    for (let leftMs = 600_000; leftMs > 0; leftMs -= 5000) {
      expect(time.mayRest(leftMs)).toBe(true);
      time.noteAnswer(leftMs);
      vi.advanceTimersByTime(5000);
    }
    expect([time.mayRest(1), time.isOver]).toEqual([false, false]);
  });

  test('grants no rest of more than ten minutes, though the clock is set back meanwhile', () => {
    const time = begin();
    time.noteAnswer(1000);
    vi.setSystemTime(Date.now() - 7_200_000);
    vi.advanceTimersByTime(60_000);
    expect([time.mayRest(540_000), time.mayRest(540_001)]).toEqual([true, false]);
  });

  test('is never shortened by the time for outages', () => {
    const time = begin(1000);
    vi.advanceTimersByTime(89_999);
    expect(time.isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(time.isOver).toBe(true);
  });

  test('leaves no timer behind', () => {
    const time = begin();
    time.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
