import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { reportResults } from './report-results.ts';

const RESULTS = join(import.meta.dirname, '../../docs/results');
const folder = mkdtempSync(join(tmpdir(), 'longhaul-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A copy of a committed result that may be changed, with or without the moment at which it was finished. */
function copied(name: string, isFinished = true): string {
  const file = join(folder, `${isFinished ? '' : 'un'}finished-${name}.jsonl`);
  cpSync(join(RESULTS, 'data', `${name}.jsonl`), file);
  const info = JSON.parse(readFileSync(join(RESULTS, 'data', `${name}.jsonl.run.json`), 'utf8'));
  writeFileSync(`${file}.run.json`, JSON.stringify(isFinished ? info : { ...info, finishedAt: null }));
  return file;
}

describe('a page can be made again', () => {
  test.each([
    ['unknown', '2026-11-25-unknown.md'],
    ['unknown-continents', '2026-11-27-unknown-continents.md'],
    ['sim-map', '2026-11-26-sim-map.md'],
    ['self-test', '2026-11-22-self-test.md'],
    ['anycast', '2026-11-23-anycast.md'],
    ['masters', '2026-11-23-masters.md'],
    ['split', '2026-11-21-split.md'],
  ])('of the lines of %s', (name, page) => {
    const made = reportResults([join(RESULTS, 'data', `${name}.jsonl`)], folder);
    expect(made).toBe(join(folder, page));
    expect(readFileSync(made, 'utf8')).toBe(readFileSync(join(RESULTS, page), 'utf8'));
  });

  test('of a planned download that failed among the others', () => {
    const file = copied('unknown');
    const text = readFileSync(file, 'utf8');
    const at = text.lastIndexOf('"isRight":true');
    writeFileSync(file, `${text.slice(0, at)}"isRight":false${text.slice(at + '"isRight":true'.length)}`);
    expect(readFileSync(reportResults([file], folder), 'utf8')).toMatch(/Failed: 1 of \d+ planned downloads/);
  });

  test('of an unfinished run only where the page says so', () => {
    expect(() => reportResults([copied('unknown', false)], folder)).toThrow(
      /not finished: .*`npm run lab -- unknown/,
    );
    expect(readFileSync(reportResults([copied('split', false)], folder), 'utf8')).toContain(
      '**This run is not finished**',
    );
  });

  test('of one file each, and not of what is not there', () => {
    const file = copied('sim-map');
    expect(() => reportResults([file, copied('split')], folder)).toThrow(/made of one file/);
    expect(() => reportResults([join(folder, 'nothing.jsonl')], folder)).toThrow(/does not exist/);
  });
});
