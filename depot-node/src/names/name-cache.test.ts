import { expect, test } from 'vitest';
import { NameCache } from './name-cache.ts';

test('a domain of names without end fills the cache with its own, and others stay in it', () => {
  const cache = new NameCache(() => 0);
  const found = { addresses: ['203.0.113.7'], lifeMs: 60_000 };
  cache.keep('origin.example', found);
  for (let index = 0; index < 20_000; index += 1) {
    if (index % 2 === 0) cache.keep(`a${index}.evil.example`, found);
    else cache.keepFailure(`a${index}.evil.example`, new Error('no such name'));
  }
  expect(cache.recall('a0.evil.example')).toBeUndefined();
  expect(() => cache.recall('a19999.evil.example')).toThrow('no such name');
  expect(cache.recall('origin.example')).toEqual(found.addresses);
});
