import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkPublishedPages } from './published-pages.ts';
import { root } from './run-steps.ts';

const PAGE = '2026-11-21-split.md';

describe('a page of results', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-results-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['split.jsonl', 'split.jsonl.run.json'])
      cpSync(join(root, 'docs', 'results', 'data', name), join(folder, 'data', name));
    list([{ page: PAGE, by: 'lab', data: ['split.jsonl'] }]);
    writeFileSync(join(folder, 'README.md'), `[split](${PAGE})\n`);
    expect(checkPublishedPages(folder, true)).toEqual([]);
  });

  function list(pages: readonly object[]): void {
    const readme = { page: PAGE, data: [] };
    writeFileSync(join(folder, 'pages.json'), JSON.stringify({ pages, readme }));
  }

  test('is as its lines make it, and nothing is wrong then', () => {
    expect(checkPublishedPages(folder, false)).toEqual([]);
  });

  test('is refused when somebody changed a figure of it', () => {
    const path = join(folder, PAGE);
    writeFileSync(path, readFileSync(path, 'utf8').replace('Mbit/s', 'Gbit/s'));
    expect(checkPublishedPages(folder, false)).toEqual([`${PAGE} is not what its lines make`]);
  });

  test('is refused when its lines are not the ones it was made of', () => {
    const path = join(folder, 'data', 'split.jsonl');
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    writeFileSync(path, `${lines.slice(1).join('\n')}\n`);
    expect(checkPublishedPages(folder, false)).toContain(`${PAGE} is not what its lines make`);
  });

  test('is refused without lines, and so are lines without a page', () => {
    list([{ page: PAGE, by: 'lab', data: ['gone.jsonl'] }]);
    const wrong = checkPublishedPages(folder, false);
    expect(wrong).toContain(`${PAGE} is said to be made of data/gone.jsonl, which is not there`);
    expect(wrong).toContain('no page shows data/split.jsonl');
    writeFileSync(join(folder, 'soak.md'), '# Soak\n');
    expect(checkPublishedPages(folder, false)).toContain('soak.md names no lines: list it in pages.json');
  });

  test('that somebody wrote links to its lines', () => {
    writeFileSync(join(folder, 'load.md'), 'As fast as before.\n');
    appendFileSync(join(folder, 'README.md'), '[load](load.md)\n');
    list([
      { page: PAGE, by: 'lab', data: ['split.jsonl'] },
      { page: 'load.md', by: 'hand', data: ['split.jsonl'] },
    ]);
    expect(checkPublishedPages(folder, false)).toEqual(['load.md does not link to data/split.jsonl']);
  });
});
