import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBrowser } from '../../browsers/find-browsers.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { BROWSER_CASES } from './browser-cases.ts';
import { benchBrowsers, readBrowsersCommand } from './browsers-command.ts';
import { browsersLineSchema } from './browsers-line.ts';

describe('the benchmark of the browsers', () => {
  test.skipIf(findBrowser('chromium') === undefined)(
    'downloads what depots carry and what is left alone with the add-on and without it, and makes a page of it',
    async ({ onTestFinished }) => {
      const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
      onTestFinished(() => rmSync(outFolder, { recursive: true }));
      const args = ['--browsers', 'chromium', '--cases', 'unwasted,private', '--repeat', '1'];
      const command = { ...readBrowsersCommand(args), outFolder };
      const page = await benchBrowsers(command, 'unused', () => {}, new AbortController().signal);
      const { lines } = readLineFile(join(outFolder, 'browsers.jsonl'), browsersLineSchema);
      expect(lines.map((line) => `${line.case} ${line.way}`).toSorted()).toEqual([
        'private direct',
        'private longhaul',
        'unwasted direct',
        'unwasted longhaul',
      ]);
      for (const line of lines)
        expect(line, line.case).toMatchObject({ isEqual: true, files: [expect.any(String)] });
      const [led] = lines.filter((line) => line.case === 'unwasted' && line.way === 'longhaul');
      expect(led?.toBrowserBytes).toBe(0);
      expect(led?.toDepotsBytes).toBeGreaterThanOrEqual(led?.sizeBytes ?? 0);
      expect(led?.said).toMatch(/^2\.5 MB in /);
      expect(readFileSync(page, 'utf8')).toContain(
        'Chromium: 2 of 2 downloads with the add-on ended as the whole file',
      );
    },
    180_000,
  );

  test('has forty cases, each by a name of its own', () => {
    expect(new Set(BROWSER_CASES.map(({ id }) => id)).size).toBe(40);
  });

  test('refuses with every mistake at once', () => {
    const read = () =>
      readCommandLine(['browsers', '--cases', 'none', '--browsers', 'lynx', '--repeat', '0']);
    expect(read).toThrow(/there is no browser 'lynx'.*; there is no case 'none'.*; --repeat 0 must be/i);
  });
});
