import { expect, test } from 'vitest';
import { asListenFailure, fileReason } from './system-failure.ts';

const failure = (code: string) => Object.assign(new Error(`listen ${code}: in the system's words`), { code });

test('a listener that cannot be bound is refused with what to do about it', () => {
  for (const [system, code] of [
    ['EADDRINUSE', 'port-in-use'],
    ['EACCES', 'port-privileged'],
    ['EADDRNOTAVAIL', 'address-not-here'],
    ['EAFNOSUPPORT', 'address-not-here'],
  ] as const)
    expect(asListenFailure(failure(system), '[::]:443')).toMatchObject({ code, detail: '[::]:443' });
});

test('what nobody has words for stays what it is', () => {
  const odd = failure('EMFILE');
  expect(asListenFailure(odd, '[::]:443')).toBe(odd);
  expect(fileReason(odd)).toBe(odd.message);
  expect(fileReason('text')).toBe('text');
});

test('a file that cannot be used says why, in words and with the code to search for', () => {
  expect(fileReason(failure('ENOSPC'))).toBe('the disk is full (ENOSPC)');
});
