import { expect, it, vi } from 'vitest';
import { explainChanges } from './explain-changes.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const change = { atMs: 0, way: 'chain', chain: ['d1'] } as const;
const untouched = { way: 'chain', restarts: 0 } as const;

it('says nothing of a download that nothing happened to', () => {
  expect(explainChanges(untouched)).toEqual([]);
});

it('says that a slow way was changed, or that no faster one was found', () => {
  expect(explainChanges({ ...untouched, changes: 1, lastChange: change })).toEqual([
    'Its way was slow, so it was changed.',
  ]);
  expect(explainChanges({ ...untouched, changes: 2 })).toEqual([
    'It was slower than planned for a while, and no faster way was found.',
  ]);
});

it('says of a way that the user chose that it was his choice, and nothing else', () => {
  const asked = { ...change, isAsked: true } as const;
  expect(explainChanges({ ...untouched, lastChange: asked })).toEqual([
    'It was led over another path, as you chose.',
  ]);
  expect(explainChanges({ ...untouched, way: 'direct', choseDirect: true, lastChange: asked })).toEqual([]);
});

it('counts how often it was rescued, and how often it began again', () => {
  expect(explainChanges({ ...untouched, breaks: 2, restarts: 1 })).toEqual([
    'Times that its way broke and it went on: 2.',
    'Times that it began again at its first byte: 1.',
  ]);
});
