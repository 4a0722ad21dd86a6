import { expect, test } from 'vitest';
import { WrongFiles } from './wrong-files.ts';

const DAY_MS = 86_400_000;
const CLIENT = { address: '198.51.100.7', network: '198.51.100.0/24' };
const OTHER = { address: '198.51.100.8', network: '198.51.100.0/24' };
const file = (jobId: string, urlHash = 'file') => ({ jobId, urlHash });

test('a wrong file is known by its job wherever its client is, and for a day by its client whatever the ticket', () => {
  let nowMs = 0;
  const files = new WrongFiles(() => nowMs);
  files.note({ claims: file('a'), client: CLIENT });
  expect(files.has({ claims: file('a'), client: OTHER })).toBe(true);
  expect(files.has({ claims: file('b'), client: CLIENT })).toBe(true);
  expect(files.has({ claims: file('b'), client: OTHER })).toBe(false);
  expect(files.has({ claims: file('b', 'another'), client: CLIENT })).toBe(false);
  nowMs += DAY_MS;
  expect(files.has({ claims: file('b'), client: CLIENT })).toBe(false);
  expect(files.has({ claims: file('a'), client: CLIENT })).toBe(true);
  nowMs += 6 * DAY_MS;
  expect(files.has({ claims: file('a'), client: CLIENT })).toBe(false);
});

test('a client network with ever more wrong files pushes out its own', () => {
  const files = new WrongFiles(() => 0);
  files.note({ claims: file('a'), client: CLIENT });
  const many = { address: '203.0.113.1', network: '203.0.113.0/24' };
  for (let job = 0; job < 5_000; job += 1)
    files.note({ claims: file(`many ${job}`, `${job}`), client: many });
  expect(files.has({ claims: file('a'), client: CLIENT })).toBe(true);
  expect(files.has({ claims: file('many 0', '0'), client: many })).toBe(false);
});
