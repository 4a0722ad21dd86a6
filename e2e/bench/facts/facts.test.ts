import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { benchFacts, readFactsCommand } from './facts-command.ts';
import { factsLineSchema } from './facts-line.ts';

test('the benchmark of facts tells a master of an overlay, has one join late, and makes a page of it', async ({
  onTestFinished,
}) => {
  const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  onTestFinished(() => rmSync(outFolder, { recursive: true }));
  const small = ['--depots', '20', '--links', '3', '--repeat', '1', '--seconds', '1', '--warm-up', '1'];
  const command = { ...readFactsCommand(small), outFolder };
  const page = await benchFacts(command, 'unused', () => {}, new AbortController().signal);
  const { lines } = readLineFile(join(outFolder, 'facts.jsonl'), factsLineSchema);
  expect(lines).toMatchObject([{ depots: 20, links: 3, repeat: 1 }]);
  expect(lines[0]?.bytesPerSecond).toBeGreaterThan(0);
  expect(readFileSync(page, 'utf8')).toContain('20 depots with 3 links each');
}, 60_000);

test('the benchmark of facts refuses with every mistake at once', () => {
  const read = () => readCommandLine(['facts', 'now', '--depots', '0', '--warm-up', 'x']);
  expect(read).toThrow(/'now' means nothing here; --depots 0 must be .*; --warm-up x must be/);
});
