import { expect, it } from 'vitest';
import { formatSeconds } from './format-seconds.ts';

it.each([
  [0.4, 'under 1 s'],
  [11.4, '11 s'],
  [59.6, '1 min'],
  [74, '1 min 10 s'],
  [596, '10 min'],
  [597, '10 min'],
  [1500, '25 min'],
  [3590, '1 h'],
  [7500, '2 h 5 min'],
  [Number.POSITIVE_INFINITY, 'very long'],
])('says %d seconds as people do', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
