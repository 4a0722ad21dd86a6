import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { flapLink } from './flap-link.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a flapping link goes down at its times, comes back, and is whole when the flapping ends', async () => {
  const seen: [number, unknown][] = [];
  const startMs = Date.now();
  const network = {
    setLink: (_: object, change: object) => {
      seen.push([Date.now() - startMs, change]);
      return Promise.resolve();
    },
  };
  const flapping = flapLink(network, { link: ['a', 'b'], everyMs: 1000, downMs: 200 });
  await vi.advanceTimersByTimeAsync(2100);
  await flapping.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(seen).toEqual([
    [1000, { isCut: true }],
    [1200, { isCut: false }],
    [2000, { isCut: true }],
    [2100, { isCut: false }],
  ]);
});
