import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { benchPlanner, readPlannerCommand } from './planner-command.ts';
import { plannerLineSchema } from './planner-line.ts';

test('the benchmark of the planner plans over drawn overlays and makes a page of it', ({
  onTestFinished,
}) => {
  const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  onTestFinished(() => rmSync(outFolder, { recursive: true }));
  const command = { ...readPlannerCommand(['--cases', 'mesh-50', '--repeat', '1']), outFolder };
  const page = benchPlanner(command, 'unused', () => {}, new AbortController().signal);
  const { lines } = readLineFile(join(outFolder, 'planner.jsonl'), plannerLineSchema);
  expect(lines).toHaveLength(4);
  expect(lines.some(({ chain }) => chain.length > 0)).toBe(true);
  expect(readFileSync(page, 'utf8')).toContain('50 depots in full mesh');
}, 60_000);

test('the benchmark of the planner refuses with every mistake at once', () => {
  const read = () => readCommandLine(['planner', 'now', '--cases', 'ring', '--repeat', 'x']);
  expect(read).toThrow(/'now' means nothing here; there is no case 'ring'; .*--repeat x must be/);
});
