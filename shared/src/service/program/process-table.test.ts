import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { linuxProcesses } from './process-table.ts';

const TABLE = new URL('./process-table.ts', import.meta.url).href;

/** What a process that has opened all the files it may is told of its own parent, and of one that is not there. */
const WITHOUT_DESCRIPTORS = `
  import { openSync } from 'node:fs';
  import { linuxProcesses } from ${JSON.stringify(TABLE)};
  try {
    for (;;) openSync('/dev/null');
  } catch (failure) {
    process.exitCode = failure.code === 'EMFILE' ? 0 : 1;
  }
  process.stdout.write(String(linuxProcesses.parentOf(process.pid)));`;

describe.skipIf(process.platform !== 'linux')('the table of processes', () => {
  test('knows a process, and one that is not there', () => {
    expect(linuxProcesses.parentOf(process.pid)).toBe(process.ppid);
    expect(linuxProcesses.commandOf(process.pid)?.[0]).toBeDefined();
    // Past the most that the kernel gives.
    expect(linuxProcesses.parentOf(2 ** 30)).toBeUndefined();
  });

  test('tells a process without a free descriptor that it does not know, not that others have gone', async () => {
    const child = spawn(
      'sh',
      [
        '-c',
        'ulimit -n 256; exec "$0" "$@"',
        process.execPath,
        '--input-type=module',
        '--eval',
        WITHOUT_DESCRIPTORS,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    expect(await text(child.stdout)).toBe('unknown');
  });
});
