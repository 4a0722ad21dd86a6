import type { OriginUrl, TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import type { Job } from '../../jobs/job-memory.ts';
import type { Target } from '../../tickets/target.ts';
import { LastTargets } from './last-targets.ts';

const jobOf = (id: string, hasWorked = true): Job => ({ id, hasWorked, bytes: 0, connections: 1, active: 1 });
const targetOf = (path: string, client = '192.0.2.0/24', endOfLife = 90_000): Target => ({
  ticket: { text: 'ticket', claims: { issuedAt: 0, lastStart: 600, endOfLife } as TicketClaims },
  url: { scheme: 'http', host: 'm.example', port: 80, path, query: null } satisfies OriginUrl,
  client,
});
const first = targetOf('/first');

test('what gave a body last is remembered, until the first address gives one itself or the job begins anew', () => {
  const memory = new LastTargets(() => 0);
  memory.note(jobOf('a'), first, targetOf('/one'));
  memory.note(jobOf('a'), first, targetOf('/other'));
  expect(memory.recall(jobOf('a'))?.url.path).toBe('/other');
  expect(memory.recall(jobOf('a', false))).toBeUndefined();
  expect(memory.recall(jobOf('b'))).toBeUndefined();
  memory.note(jobOf('a'), first, { ...first });
  expect(memory.recall(jobOf('a'))).toBeUndefined();
});

test('a client network of jobs and long addresses without end pushes out its own, and those of others stay', () => {
  const memory = new LastTargets(() => 0);
  memory.note(jobOf('a'), first, targetOf('/kept'));
  const crowd = '198.51.100.0/24';
  for (let index = 0; index < 10_000; index += 1)
    memory.note(jobOf(`b${index}`), targetOf('/', crowd), targetOf('/'.padEnd(8000, 'x'), crowd));
  expect(memory.recall(jobOf('a'))?.url.path).toBe('/kept');
  const kept = Array.from({ length: 10_000 }, (_, index) => `b${index}`).filter((id) =>
    memory.recall(jobOf(id)),
  );
  expect(kept.length).toBeLessThan(500);
  expect(kept.at(-1)).toBe('b9999');
});

test('what a ticket is over for goes first', () => {
  let nowSeconds = 0;
  const memory = new LastTargets(() => nowSeconds);
  const over = '198.51.100.0/24';
  memory.note(jobOf('over'), targetOf('/', over), targetOf('/over', over, 1_000));
  nowSeconds = 5_000;
  const client = '192.0.2.0/24';
  for (let index = 0; index < 4_000; index += 1)
    memory.note(jobOf(`b${index}`), targetOf('/', client), targetOf('/b', client));
  expect(memory.recall(jobOf('over'))).toBeUndefined();
  expect(memory.recall(jobOf('b0'))).toBeDefined();
});
