import type { OriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { OriginMemory } from './origin-memory.ts';

const urlOf = (path: string, host = 'o'): OriginUrl => ({
  scheme: 'http',
  host,
  port: 80,
  path,
  query: null,
});

test('what was used last is remembered, what was not goes first', () => {
  const memory = new OriginMemory();
  const long = '/'.padEnd(8000, 'x');
  memory.note('first', urlOf('/first'));
  memory.note('second', urlOf('/second'));
  for (let index = 0; index < 1000; index += 1) {
    memory.note(String(index), urlOf(long + index));
    expect(memory.recall('first')?.path).toBe('/first');
  }
  expect(memory.recall('second')).toBeUndefined();
  expect(memory.recall('0')).toBeUndefined();
  expect(memory.recall('999')?.path).toBe(`${long}999`);
});

test('a domain of names without end fills the memory with its own, and others stay in it', () => {
  const memory = new OriginMemory();
  memory.note('first', urlOf('/first'));
  for (let index = 0; index < 20_000; index += 1)
    memory.note(String(index), urlOf('/'.padEnd(index % 500, 'x'), `a${index}.evil.example`));
  expect(memory.recall('0')).toBeUndefined();
  expect(memory.recall('19999')?.host).toBe('a19999.evil.example');
  expect(memory.recall('first')?.path).toBe('/first');
});
