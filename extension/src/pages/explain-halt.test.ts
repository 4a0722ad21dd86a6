import { expect, it, vi } from 'vitest';
import { explainHalt } from './explain-halt.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

it('says what is wrong in words, and when it is tried again', () => {
  expect(explainHalt({ state: 'waiting', problem: 'NETWORK_FAILED', nextTryAtMs: 16_000 }, 2_000)).toBe(
    'The connection broke. What is on disk is kept; it is tried again in 14 sec.',
  );
  const own = 'The origin is busy: try again later. (origin-busy)';
  expect(explainHalt({ state: 'waiting', problem: own, nextTryAtMs: 1 }, 2)).toBe(
    `${own} What is on disk is kept; it is tried again now.`,
  );
});

it('asks for a click where the browser wants one, and for room where there is none', () => {
  expect(explainHalt({ state: 'click', problem: '', nextTryAtMs: 0 }, 5)).toBe(
    'What is on disk is kept: go on by a click.',
  );
  const stuck = (problem: string) => explainHalt({ state: 'stuck', problem, nextTryAtMs: 0 }, 5);
  expect(stuck('FILE_NO_SPACE')).toMatch(/^There is no room on the disk\. .*make room/);
  expect(stuck('FILE_FAILED')).toMatch(/make room/);
  for (const problem of ['FILE_ACCESS_DENIED', 'FILE_NAME_TOO_LONG'])
    expect(stuck(problem)).toMatch(/ What is on disk is kept: go on by a click\.$/);
});

it('asks for nothing where the browser forbids the file', () => {
  for (const problem of ['FILE_BLOCKED', 'FILE_VIRUS_INFECTED', 'FILE_SECURITY_CHECK_FAILED'])
    expect(explainHalt({ state: 'lost', problem, nextTryAtMs: 0 }, 5)).toBe(
      'The browser, or who manages it, forbids this file. It could not be started again.',
    );
});

it('sends the user to the browser, which may ask whether to keep what is all there', () => {
  expect(explainHalt({ state: 'checked', problem: '', nextTryAtMs: undefined }, 5)).toMatch(
    /^All of it is here: .*whether to keep it\.$/,
  );
});

it('says nothing of what runs', () => {
  expect(explainHalt({ state: 'running', problem: 'NETWORK_FAILED', nextTryAtMs: 9 }, 0)).toBe('');
});
