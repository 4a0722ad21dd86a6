import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { benchOverload, readOverloadCommand } from './overload-command.ts';
import { overloadLineSchema } from './overload-line.ts';

test('the benchmark of overload asks a master for twice what it can, and makes a page of it', async ({
  onTestFinished,
}) => {
  const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  onTestFinished(() => rmSync(outFolder, { recursive: true }));
  const command = {
    ...readOverloadCommand(['--connections', '100', '--repeat', '1', '--seconds', '1']),
    outFolder,
  };
  const page = await benchOverload(command, 'unused', () => {}, new AbortController().signal);
  const { lines } = readLineFile(join(outFolder, 'overload.jsonl'), overloadLineSchema);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.flood.wanted).toBe(2 * (lines[0]?.capacity ?? 0));
  expect(lines[0]?.flood.answered).toBeGreaterThan(0);
  expect(lines[0]?.flood.refused).toBe(0);
  expect(readFileSync(page, 'utf8')).toContain('redirects a second for each core');
}, 180_000);

test('the benchmark of overload refuses with every mistake at once', () => {
  const read = () => readCommandLine(['overload', 'now', '--connections', '0', '--seconds', 'x']);
  expect(read).toThrow(/'now' means nothing here; --connections 0 must be .*; --seconds x must be/);
});
