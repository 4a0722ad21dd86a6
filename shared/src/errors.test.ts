import { expect, test } from 'vitest';
import { asLonghaulError, ERRORS, type ErrorCode, LonghaulError } from './errors.ts';

test('every registered failure is a sentence with a proper status', () => {
  for (const [code, { status, message }] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(message, 'what happened, and behind a colon what to do').toMatch(/^[A-Z][^:]*: .*\.$/);
    expect(message, 'who reads it has no repository').not.toMatch(/docs\/|\.md\b|src\//);
    if (message.includes('go direct')) expect(ERRORS[code as ErrorCode].direct, code).toBe(true);
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
