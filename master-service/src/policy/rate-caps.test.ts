import { expect, test } from 'vitest';
import { RateCaps } from './rate-caps.ts';

const HOUR_MS = 3_600_000;

test('a network that used up its bytes gets them back over an hour', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  expect(caps.takeBytes('10.0.0.0/24', 1000, 0).ok).toBe(true);
  expect(caps.takeBytes('10.0.0.0/24', 400, HOUR_MS / 4)).toMatchObject({ error: { code: 'rate-limited' } });
  expect(caps.takeBytes('10.0.0.0/24', 400, HOUR_MS / 2).ok).toBe(true);
  expect(caps.takeBytes('10.0.0.0/24', 1001, 9 * HOUR_MS).ok).toBe(false);
});

test('networks do not spend for each other', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  expect(caps.takePlan('10.0.0.0/24', 0).ok).toBe(true);
  expect(caps.takePlan('10.0.0.0/24', 0).ok).toBe(false);
  expect(caps.takePlan('10.0.1.0/24', 0).ok).toBe(true);
});

test('a clock that is set back neither helps nor harms', () => {
  const caps = new RateCaps({ plansPerMinute: 2, bytesPerHour: 1000 });
  expect(caps.takePlan('a', 10_000).ok).toBe(true);
  expect(caps.takePlan('a', 0).ok).toBe(true);
  expect(caps.takePlan('a', 0).ok).toBe(false);
});
