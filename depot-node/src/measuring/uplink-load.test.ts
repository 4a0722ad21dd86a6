import { expect, test } from 'vitest';
import { createUplinkLoad } from './uplink-load.ts';

test('a depot tells what its uplink has carried since the last heartbeat, and can carry', () => {
  let [bytes, ms] = [5_000_000, 1000];
  const load = createUplinkLoad({ mostBps: 100e6, sentBytes: () => bytes, nowMs: () => ms });
  expect(load()).toEqual({ sentBps: 0, mostBps: 100e6 });
  [bytes, ms] = [10_000_000, 5000];
  expect(load()).toEqual({ sentBps: 10e6, mostBps: 100e6 });
  // A heartbeat right behind another one tells the same.
  [bytes, ms] = [10_000_001, 5001];
  expect(load().sentBps).toBe(10e6);
  // The clock is set back: no rate is made of that.
  [bytes, ms] = [20_000_000, 0];
  expect(load().sentBps).toBe(10e6);
  ms = 4000;
  expect(load().sentBps).toBe(0);
});
