import { expect, test, vi } from 'vitest';
import { SharedCounts } from './shared-counts.ts';

test('what one thread holds, all others and the main thread see, until it is gone', () => {
  const here = new SharedCounts(2);
  const there = new SharedCounts(2, here.memory);
  there.add(0, '10.0.0.0/24', 3);
  there.add(1, '10.0.0.0/24', 1);
  here.note('10.0.0.0/24', 2, 1);
  expect(here.of('10.0.0.0/24')).toBe(4);
  expect(here.of('10.0.1.0/24')).toBe(0);
  expect(here.all()).toBe(4);
  expect(there.seen('10.0.0.0/24')).toEqual({ all: 6, open: 6, waiting: 5 });
  here.clear(0);
  expect(there.seen('10.0.0.0/24')).toEqual({ all: 3, open: 3, waiting: 2 });
});

test('what ends unused in one thread counts in all of them, and comes back steadily', () => {
  const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(5_000_000_000n);
  try {
    const [here, there] = [new SharedCounts(2), new SharedCounts(2)];
    const [ours, theirs] = [here.unused(4, 10_000), new SharedCounts(2, here.memory).unused(4, 10_000)];
    for (const one of [ours, theirs, ours, theirs]) {
      expect(theirs.hasTooMany('10.0.0.0/24')).toBe(false);
      one.note('10.0.0.0/24');
    }
    expect([ours, theirs].map((one) => one.hasTooMany('10.0.0.0/24'))).toEqual([true, true]);
    expect(ours.hasTooMany('10.0.1.0/24')).toBe(false);
    expect(there.unused(4, 10_000).hasTooMany('10.0.0.0/24')).toBe(false);
    clock.mockReturnValue(7_499_000_000n);
    expect(ours.hasTooMany('10.0.0.0/24')).toBe(true);
    clock.mockReturnValue(7_500_000_000n);
    expect(ours.hasTooMany('10.0.0.0/24')).toBe(false);
    ours.note('10.0.0.0/24');
    expect(theirs.hasTooMany('10.0.0.0/24')).toBe(true);
  } finally {
    clock.mockRestore();
  }
});

test('counts of ten thousand networks that come and go leave nothing, and none is ever taken for less than it has', () => {
  const counts = new SharedCounts(1);
  const networks = Array.from({ length: 10_000 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
  for (const network of networks) counts.add(0, network, 2);
  expect(networks.every((network) => counts.of(network) >= 2)).toBe(true);
  for (const network of networks) counts.add(0, network, -2);
  expect(networks.every((network) => counts.of(network) === 0)).toBe(true);
  expect(counts.all()).toBe(0);
});

test('among a thousand networks with a few connections hardly any is taken for one with many', () => {
  const counts = new SharedCounts(1);
  counts.add(0, 'many', 100);
  const networks = Array.from({ length: 1000 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
  for (const network of networks) counts.add(0, network, 1);
  expect(networks.filter((network) => counts.of(network) >= 100).length).toBeLessThanOrEqual(2);
});
