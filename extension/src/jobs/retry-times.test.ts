import { describe, expect, it } from 'vitest';
import { isWorthStartingOver, nextTryAtMs, OWN_DEPOT_MS } from './retry-times.ts';

describe('an interrupted download', () => {
  it('is tried again after a quarter of a second, 1, 4 and 16 seconds, and then every minute', () => {
    const waits: number[] = [];
    let nowMs = 0;
    for (let tries = 0; tries < 6; tries += 1) {
      const atMs = nextTryAtMs(0, tries, nowMs) ?? 0;
      waits.push(atMs - nowMs);
      nowMs = atMs;
    }
    expect(waits).toEqual([250, 1_000, 4_000, 16_000, 60_000, 60_000]);
  });

  it('is left to the user after a day', () => {
    const dayMs = 24 * 3_600_000;
    expect(nextTryAtMs(0, 900, dayMs - 60_000)).toBe(dayMs);
    expect(nextTryAtMs(0, 900, dayMs - 59_000)).toBeUndefined();
  });
});

describe('starting from the first byte', () => {
  const half = { bytes: 50, totalBytes: 100, wholeSeconds: 600, ownDepotMs: OWN_DEPOT_MS };

  it('is worth it when the wait has cost as much as the bytes on disk cost once more', () => {
    expect(isWorthStartingOver(299_000, half)).toBe(false);
    expect(isWorthStartingOver(300_000, half)).toBe(true);
    expect(isWorthStartingOver(60_000, { ...half, bytes: 10 })).toBe(true);
  });

  it('is never worth it in the first five seconds, in which a depot comes back that is started again', () => {
    expect(isWorthStartingOver(4_900, { ...half, bytes: 0 })).toBe(false);
    expect(isWorthStartingOver(5_000, { ...half, bytes: 0 })).toBe(true);
  });

  it('counts all bytes where nobody knows how many there are', () => {
    expect(isWorthStartingOver(599_000, { ...half, totalBytes: undefined })).toBe(false);
  });
});
