import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'vitest';
import { beatingDepot } from './beating-depot.ts';
import { processesWith } from './session-processes.ts';
import { cleanEnvironment, root } from './started-service.ts';

/** Runs a command line to its end. */
async function runToEnd(command: readonly string[]): Promise<void> {
  const [program = '', ...args] = command;
  const options = { cwd: root, detached: true, stdio: 'ignore', env: cleanEnvironment() } as const;
  await once(spawn(program, args, options), 'exit');
}

type CommandOf = (config: string, out: string) => readonly string[];

/** Longer than it takes to miss npm: a beat is as long as a look. */
const BEATS = 4;

const depot = (config: string) => `longhaul-depot --config ${config}`;

describe.skipIf(process.platform !== 'linux')('a depot that was put into the background on purpose', () => {
  test.concurrent.for<readonly [string, CommandOf]>([
    ['a shell that has ended', (config, out) => ['sh', '-c', `${depot(config)} >${out} 2>&1 &`]],
    [
      'a script of npm, by nohup',
      (config, out) => ['npm', 'exec', '-c', `nohup ${depot(config)} >${out} 2>&1 &`],
    ],
    [
      'a script of npm, in a session of its own',
      (config, out) => ['npm', 'exec', '-c', `setsid -f ${depot(config)} >${out} 2>&1`],
    ],
    [
      'a program that npm has started',
      (config, out) => ['npm', 'exec', '-c', `sh -c "${depot(config)} >${out} 2>&1 &"`],
    ],
  ])('goes on without %s', async ([, commandOf], { expect, onTestFinished }) => {
    const { config, out, said, beats } = await beatingDepot(onTestFinished);
    await runToEnd(commandOf(config, out));
    await expect.poll(beats, { timeout: 15_000 }).toBeGreaterThan(BEATS);
    expect(said()).not.toContain('"msg":"ends');
    const [alive] = processesWith(config);
    process.kill(alive?.pid ?? 0, 'SIGTERM');
    await expect.poll(() => processesWith(config), { timeout: 10_000 }).toEqual([]);
    expect(said()).toContain('"msg":"ends: SIGTERM');
  });
});
