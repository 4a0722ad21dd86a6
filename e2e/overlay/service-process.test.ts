import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Launch, startProgram } from './service-process.ts';

const root = mkdtempSync(join(tmpdir(), 'longhaul-service-'));
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(root, 'run-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const launch: Launch = ([program, ...args], cwd) =>
  spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
const READY = `process.send({ ready: { url: 'http://there' } })`;
const script = (text: string) => ['-e', text] as const;

describe('a program of this repository', () => {
  test('is told to be ready by itself, and ends when asked to', async () => {
    const program = await startProgram(
      [...script(`console.error('hello'); setInterval(() => {}, 1000); ${READY}`)],
      dir,
      'talker',
      launch,
    );
    expect(program.url).toBe('http://there');
    await expect.poll(() => readFileSync(join(dir, 'talker.log'), 'utf8')).toBe('hello\n');
    await program.kill();
  });

  test.each([
    [
      `console.error('no port'); process.exitCode = 3`,
      /broken did not start \(it ended, with code 3\):\nno port/,
    ],
    [`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`, /\(it ended, by SIGTERM\)/],
  ])('that ends instead says so, with what it said: %s', async (text, message) => {
    await expect(startProgram([...script(text)], dir, 'broken', launch)).rejects.toThrow(message);
  });

  test('that cannot be started says why', async () => {
    const launchNothing: Launch = (_, cwd) => launch(['/no/such/program'], cwd);
    await expect(startProgram([...script('')], dir, 'nothing', launchNothing)).rejects.toThrow('ENOENT');
  });

  test('goes on when the folder of its log is gone', async () => {
    const launchIntoNothing: Launch = (command) => {
      rmSync(dir, { recursive: true });
      return launch(command, root);
    };
    const program = await startProgram(
      [
        ...script(
          `process.on('SIGINT', () => process.exit()); setInterval(() => console.error('x'), 5); ${READY}`,
        ),
      ],
      dir,
      'homeless',
      launchIntoNothing,
    );
    await expect(program.stop()).resolves.toBeUndefined();
  });
});
