import { expect, it } from 'vitest';
import { showFile } from './show-file.ts';

const GONE = new Error('Invalid download id 3');

it.each<[string, (log: string[]) => unknown, readonly string[]]>([
  ['the file in its folder', (log) => log.push('file'), ['file']],
  [
    'the folder of all downloads where Chromium knows the file no more',
    () => {
      throw GONE;
    },
    ['folder'],
  ],
  ['the folder of all downloads where Firefox does not', () => Promise.reject(GONE), ['folder']],
])('shows %s', async (_what, show, shown) => {
  const log: string[] = [];
  await showFile(3, { show: () => show(log), showDefaultFolder: () => log.push('folder') });
  expect(log).toEqual(shown);
});
