import { expect, it } from 'vitest';
import { isWantedKind, kindOf, parseKind } from './file-kind.ts';

it.each([
  ['debian.ISO', 'iso'],
  ['linux-6.1.tar.xz', 'tar.xz'],
  ['a.b.zip', 'zip'],
  ['README', ''],
  ['.bashrc', 'bashrc'],
  ['report.final version', ''],
  ['资料.7z', '7z'],
])('knows the kind of %s', (name, kind) => {
  expect(kindOf(name)).toBe(kind);
});

it('reads kinds as people type them', () => {
  expect(['.ISO', '*.tar.gz', ' zip '].map(parseKind)).toEqual(['iso', 'tar.gz', 'zip']);
  expect(['', 'a b', 'x/y', '*'].map(parseKind)).toEqual([undefined, undefined, undefined, undefined]);
});

it('takes gz for every file that ends so, and tar.gz for those alone', () => {
  const only = (kind: string) => ({ mode: 'only' as const, kinds: [kind] });
  expect(isWantedKind('a.tar.gz', only('gz'))).toBe(true);
  expect(isWantedKind('a.gz', only('tar.gz'))).toBe(false);
  expect(isWantedKind('a.gz', { mode: 'except', kinds: ['gz'] })).toBe(false);
});
