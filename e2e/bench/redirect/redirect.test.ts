import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasProgram } from '../../lab/programs.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { readCommandLine } from '../command-line.ts';
import { benchRedirect, readRedirectCommand } from './redirect-command.ts';
import { redirectLineSchema } from './redirect-line.ts';

test.skipIf(!hasProgram('nginx'))(
  'the benchmark of redirects asks a master, nginx and Node alike, over HTTP and TLS, and makes a page of it',
  async ({ onTestFinished }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const command = {
      ...readRedirectCommand(['--cases', 'direct,tls-resumed', '--repeat', '1', '--requests', '400']),
      outFolder,
    };
    const page = await benchRedirect(command, 'unused', () => {}, new AbortController().signal);
    const { lines } = readLineFile(join(outFolder, 'redirect.jsonl'), redirectLineSchema);
    expect(lines).toHaveLength(6);
    expect(lines.every(({ cpuUs }) => cpuUs > 0)).toBe(true);
    expect(readFileSync(page, 'utf8')).toContain('every URL new, answered direct');
  },
  180_000,
);

test('the benchmark of redirects refuses with every mistake at once', () => {
  const read = () => readCommandLine(['redirect', 'now', '--cases', 'other', '--repeat', 'x']);
  expect(read).toThrow(/'now' means nothing here; there is no case 'other'; .*--repeat x must be/);
});
