import type { OriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { PlanCache, planKey, SAME_PLAN_TIMES } from './plan-cache.ts';

const keyOf = (index: number, pathChars: number, client = '192.0.2.7/32') => {
  const path = `/${String(index).padEnd(pathChars, 'x')}`;
  const url: OriginUrl = { scheme: 'https', host: 'origin.example', port: 443, path, query: null };
  return planKey({ client, url, options: {}, kind: 'get' });
};

/** How many of a thousand plans are still known when the last one has been made. */
function keptOf(planChars: number, pathChars: number): number {
  const cache = new PlanCache<string>();
  const indices = Array.from({ length: 1000 }, (_, index) => index);
  for (const index of indices) {
    const terms = { chars: planChars, wholes: 1, use: 'whole' } as const;
    cache.set(keyOf(index, pathChars), 'p'.repeat(planChars), terms, 0);
  }
  return indices.filter((index) => cache.get(keyOf(index, pathChars), 'part', 0) !== undefined).length;
}

test('plans of usual size are all kept for their minute', () => {
  expect(keptOf(3000, 100)).toBe(1000);
});

test('plans of the longest URLs take no more than 16 MB, with their keys', () => {
  const kept = keptOf(40_000, 8000);
  expect(kept * 48_000).toBeLessThan(16_000_000);
  expect(kept).toBeGreaterThan(300);
});

test('a plan is given to one client alone, and to it no more often than its connections may need', () => {
  const cache = new PlanCache<string>();
  const key = keyOf(0, 10);
  cache.set(key, 'plan', { chars: 4, wholes: Number.POSITIVE_INFINITY, use: 'whole' }, 0, 'asked');
  expect(cache.get(keyOf(0, 10, '192.0.2.8/32'), 'whole', 0)).toBeUndefined();
  for (let given = 1; given < SAME_PLAN_TIMES; given += 1)
    expect(given % 2 === 0 ? cache.get(key, 'part', 0) : cache.getAsked('asked', 'whole', 0)).toBe('plan');
  expect(cache.get(key, 'whole', 0)).toBeUndefined();
  expect(cache.getAsked('asked', 'part', 0)).toBeUndefined();
});

test('a plan is given for no more whole files than its ticket is good for, and then for parts alone', () => {
  const cache = new PlanCache<string>();
  const key = keyOf(0, 10);
  cache.set(key, 'plan', { chars: 4, wholes: 3, use: 'whole' }, 0, 'asked');
  expect(cache.get(key, 'whole', 0)).toBe('plan');
  expect(cache.getAsked('asked', 'part', 0)).toBe('plan');
  expect(cache.getAsked('asked', 'whole', 0)).toBe('plan');
  expect([cache.get(key, 'whole', 0), cache.getAsked('asked', 'whole', 0)]).toEqual([undefined, undefined]);
  expect([cache.get(key, 'part', 0), cache.getAsked('asked', 'part', 0)]).toEqual(['plan', 'plan']);
});

test('who was told a plan and comes for it counts once', () => {
  const cache = new PlanCache<string>();
  const key = keyOf(0, 10);
  cache.set(key, 'plan', { chars: 4, wholes: 2, use: 'whole' }, 0, 'asked');
  expect(cache.get(key, 'told', 0)).toBe('plan');
  cache.noteTold(key, 0);
  expect(cache.getAsked('asked', 'whole', 0)).toBe('plan');
  expect(cache.getAsked('asked', 'whole', 0)).toBeUndefined();
  expect(cache.get(key, 'told', 0)).toBeUndefined();
});
