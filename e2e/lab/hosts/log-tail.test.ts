import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LogTail } from './log-tail.ts';

test('a log is read line by line, each once, also when a line comes in parts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.log');
  writeFileSync(file, '{"msg":"one"}\nno JSON\n{"msg":"tw');
  const tail = new LogTail(file);
  expect(tail.newLines()).toEqual([{ msg: 'one' }]);
  expect(tail.newLines()).toEqual([]);
  appendFileSync(file, 'o"}\n');
  expect(tail.newLines()).toEqual([{ msg: 'two' }]);
});
