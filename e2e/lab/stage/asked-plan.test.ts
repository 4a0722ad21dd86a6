import type { PlanAnswer } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { hasLed } from './asked-plan.ts';

const answer = (decision: PlanAnswer['decision']) => ({ decision, jobId: 'one' }) as PlanAnswer;

test('a plan is that of a download over its job, and of one that came directly where it says so', () => {
  expect(hasLed(answer('chain'), 'one')).toBe(true);
  expect(hasLed(answer('chain'), 'two')).toBe(false);
  expect(hasLed(answer('direct'), undefined)).toBe(true);
  // More was known when it was asked for: another plan, that led nobody.
  expect(hasLed(answer('chain'), undefined)).toBe(false);
});
