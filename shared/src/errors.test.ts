import { expect, test } from 'vitest';
import { asLonghaulError, ERRORS, LonghaulError } from './errors.ts';

test('every registered failure is a sentence with a proper status', () => {
  for (const [code, { status, message }] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(message, code).toMatch(/^[A-Z].*\.$/);
    expect(status === 0 || (status >= 400 && status < 600), code).toBe(true);
  }
});

test('an unregistered failure keeps its cause and shows nothing of it', () => {
  const cause = new Error('secret path');
  const wrapped = asLonghaulError(cause);
  expect(wrapped).toMatchObject({ code: 'internal', status: 500, cause });
  expect(wrapped.message).not.toContain('secret');
  expect(asLonghaulError(new LonghaulError('bad-port')).code).toBe('bad-port');
});
