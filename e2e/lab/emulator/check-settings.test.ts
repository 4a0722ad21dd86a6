import { expect, test } from 'vitest';
import { checkDirection } from './check-settings.ts';
import type { DirectionSettings } from './link-settings.ts';

const RIGHT: DirectionSettings = {
  delayMs: 0,
  jitterMs: 0,
  loss: { kind: 'none' },
  rateBps: Number.POSITIVE_INFINITY,
  queue: { packets: 1 },
  isCut: false,
};

test('settings at the edge of what is possible are accepted', () => {
  expect(checkDirection(RIGHT)).toEqual([]);
  expect(checkDirection({ ...RIGHT, loss: { kind: 'independent', rate: 1 }, queue: { bytes: 0.5 } })).toEqual(
    [],
  );
});

test.each<[string, Partial<DirectionSettings>, RegExp]>([
  ['a negative delay', { delayMs: -1 }, /^delayMs is -1: give/],
  ['a delay that is not a number', { delayMs: Number.NaN }, /^delayMs is NaN/],
  ['a delay of hours', { delayMs: 3.6e6 }, /0 to 60000/],
  ['an infinite jitter', { jitterMs: Number.POSITIVE_INFINITY }, /^jitterMs/],
  ['a rate of nothing', { rateBps: 0 }, /^rateBps is 0/],
  ['a rate that is not a number', { rateBps: Number.NaN }, /^rateBps is NaN/],
  ['a queue without room', { queue: { bytes: 0 } }, /^queue is 0 bytes/],
  ['an endless queue', { queue: { packets: Number.POSITIVE_INFINITY } }, /^queue is Infinity packets/],
  ['a loss in percent', { loss: { kind: 'independent', rate: 5 } }, /^loss.rate is 5: give a probability/],
  ['no rate at all', { rateBps: undefined }, /^rateBps is missing: give it/],
  ['no queue at all', { queue: undefined }, /^queue is missing: give it/],
  ['a queue that is a number', { queue: 20 as never }, /^queue is 20: give \{ bytes \} or \{ packets \}/],
  [
    'a line that holds more than the emulator',
    { rateBps: 2e9, delayMs: 600, queue: { bytes: 1e6 } },
    /^rate x delay \+ queue is 152 MB, of which the emulator holds 67.1 MB: make/,
  ],
  [
    'a queue that holds more than the emulator',
    { rateBps: 1e6, queue: { packets: 50_000 } },
    /^rate x delay \+ queue is 76.3 MB/,
  ],
  [
    'an unknown loss model',
    { loss: { kind: 'weibull' } as never },
    /^loss is of kind weibull: give one of none/,
  ],
])('%s is refused', (_, settings, mistake) => {
  expect(checkDirection({ ...RIGHT, ...settings })).toEqual([expect.stringMatching(mistake)]);
});

test('all mistakes are named at once', () => {
  const loss = {
    kind: 'gilbert-elliott',
    toBad: -1,
    toGood: 2,
    lossInGood: 0,
    lossInBad: Number.NaN,
  } as const;
  expect(checkDirection({ ...RIGHT, delayMs: -1, rateBps: -1, loss })).toHaveLength(5);
});
