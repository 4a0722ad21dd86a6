import { ERRORS, type ErrorCode, HEADERS, LonghaulError } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { isBetterDirect } from './direct-answer.ts';

const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== 'origin-bad-answer');
const DIRECT = CODES.filter((code) => ERRORS[code].direct || ERRORS[code].blame === 'master');
const PARTS = ['bytes=0-0', 'bytes=0-1', 'bytes=1-', 'bytes=7-', 'bytes=-500', 'bytes=0-0,-1'];

const isLed = (code: ErrorCode, headers: Record<string, string>) =>
  isBetterDirect(new LonghaulError(code), { headers });

test.each(DIRECT)('%s leads whoever names no version to the origin, whatever part he asks for', (code) => {
  for (const range of PARTS) {
    expect(isLed(code, { range }), range).toBe(true);
    for (const name of ['if-range', 'if-match', 'if-unmodified-since'])
      expect(isLed(code, { range, [name]: 'x' }), `${range} with ${name}`).toBe(false);
  }
  for (const begun of [{}, { range: 'bytes=0-' }, { range: 'bytes=0-', 'if-range': 'x' }] as Record<
    string,
    string
  >[])
    expect(isLed(code, begun)).toBe(true);
});

test.each(DIRECT)('%s is told to who only looks', (code) => {
  for (const asked of [{}, { range: 'bytes=0-0' }] as Record<string, string>[])
    expect(isLed(code, { ...asked, [HEADERS.probe]: '1' })).toBe(false);
});

test('what is no better directly leads nobody to the origin', () => {
  const others = CODES.filter((code) => !DIRECT.includes(code));
  for (const code of [...others, 'origin-bad-answer'] as const) {
    expect(isLed(code, {}), code).toBe(false);
    expect(isLed(code, { range: 'bytes=7-' }), code).toBe(false);
  }
});
