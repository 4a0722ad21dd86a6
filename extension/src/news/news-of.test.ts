import { expect, it, vi } from 'vitest';
import type { Sign } from '../browser/sign.ts';
import { job } from '../testing/job.ts';
import { justDone, newsOf } from './news-of.ts';
import { tellNews } from './tell-news.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const kinds = (...[before, after]: Parameters<typeof newsOf>) =>
  newsOf(before, after).map(({ kind }) => kind);

it('tells once of a download that waits for the user, and of one that is whole after a break', () => {
  const stuck = [job({ state: 'stuck' })];
  expect(kinds([job()], stuck)).toEqual(['failed']);
  expect(kinds(stuck, [job({ state: 'click' })])).toEqual([]);
  expect(kinds([job({ breaks: 1 })], [job({ state: 'done', breaks: 1 })])).toEqual(['rescued']);
});

it('tells nothing of what goes by itself', () => {
  expect(kinds([job()], [job({ state: 'waiting', breaks: 1 })])).toEqual([]);
  expect(kinds([job()], [job({ state: 'done' })])).toEqual([]);
  expect(kinds([], [job({ state: 'done', breaks: 1 })])).toEqual([]);
});

it('counts a job as done once', () => {
  const done = [job({ state: 'done' })];
  expect(justDone([job()], done)).toEqual(done);
  expect(justDone(done, done)).toEqual([]);
});

it('shows how many run on the button, and that one needs the user before that', async () => {
  const told: string[] = [];
  const sign: Sign = {
    badge: async (text, isTrouble) => void told.push(`badge ${text}${isTrouble ? ' in red' : ''}`),
    notice: async (_id, title, message) => void told.push(`${title}: ${message}`),
  };
  await tellNews([], [job(), job({ key: 'b' })], sign);
  await tellNews([job()], [job({ state: 'stuck', interruption: interruption('FILE_NO_SPACE') })], sign);
  await tellNews([job({ restarts: 1 })], [job({ restarts: 1, state: 'done' })], sign);
  expect(told).toEqual([
    'badge 2',
    'badge ! in red',
    'A download waits for you: file.iso: There is no room on the disk. What is on disk is kept: make room and go on by a click.',
    'badge ',
    'Brought to its end: file.iso is whole, although its way broke on the way.',
  ]);
});

function interruption(problem: string) {
  return { sinceMs: 0, bytes: 1, tries: 0, nextTryAtMs: 0, problem };
}
