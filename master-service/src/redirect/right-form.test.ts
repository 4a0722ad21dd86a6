import { LonghaulError } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { withRightForm } from './right-form.ts';

const refusal = new LonghaulError('unknown-scheme', { detail: 'https:' });

test.each([
  ['as it was copied', '/get/https://o.example/f?a=b', '/get/https/o.example/f?a=b'],
  [
    'with options before it',
    '/get/~size=9,avoid=d1/http://o.example/',
    '/get/~size=9,avoid=d1/http/o.example/',
  ],
  ['of which a proxy has merged the slashes', '/get/https:/o.example/f', '/get/https/o.example/f'],
  ['with a port, and in capitals', '/get/HTTPS://O.example:8443/F', '/get/https/o.example:8443/F'],
])('a refusal of a URL behind /get/ says what to write: %s', (_, target, right) => {
  expect(withRightForm(refusal, target)).toMatchObject({ code: 'unknown-scheme', detail: `write ${right}` });
});

test.each([
  ['another scheme', '/get/ftp/o.example/f'],
  ['another scheme with its colon', '/get/ftp://o.example/f'],
  ['no host', '/get/https://'],
  ['a login', '/get/https://user:secret@o.example/f'],
  ['a sentence in place of a host', '/get/https://call this number/'],
  ['an address in a form', '/get?url=https://o.example'],
])('and stays as it is for %s', (_, target) => {
  expect(withRightForm(refusal, target)).toBe(refusal);
});
