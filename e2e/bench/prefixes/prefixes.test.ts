import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { drawTable } from './draw-table.ts';
import { benchPrefixes, readPrefixesCommand } from './prefixes-command.ts';
import { prefixesLineSchema } from './prefixes-line.ts';

describe('the benchmark of the prefix table', () => {
  test('lets everybody look up the same, who all say the same, and makes a page of it', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const command = { ...readPrefixesCommand(['--prefixes', '2000', '--repeat', '1']), outFolder };
    const page = await benchPrefixes(command, 'unused', () => {}, new AbortController().signal);
    const { lines } = readLineFile(join(outFolder, 'prefixes.jsonl'), prefixesLineSchema);
    expect(lines.map(({ contestant }) => contestant)).toEqual(['longhaul', 'mmdb-lib', 'maps']);
    expect(new Set(lines.map(({ check }) => check)).size).toBe(1);
    expect(readFileSync(page, 'utf8')).toContain('All contestants say the same of every address');
  }, 60_000);

  test('draws the same table for the same seed, with both families, nested, and no prefix twice', () => {
    const { entries, ...addresses } = drawTable(1000, 10, 7);
    expect(drawTable(1000, 10, 7)).toEqual({ entries, ...addresses });
    expect(drawTable(1000, 10, 8)).not.toEqual({ entries, ...addresses });
    const prefixes = entries.map(([prefix]) => prefix);
    expect(new Set(prefixes).size).toBe(1000);
    expect(prefixes.filter((prefix) => prefix.includes(':'))).toHaveLength(190);
  });

  test('refuses with every mistake at once', () => {
    const read = () => readCommandLine(['prefixes', 'now', '--prefixes', '1', '--repeat', 'x']);
    expect(read).toThrow(/'now' means nothing here; --prefixes 1 must be .*; --repeat x must be/);
    expect(readCommandLine(['prefixes', '--help'])).toEqual({ kind: 'help' });
  });
});
