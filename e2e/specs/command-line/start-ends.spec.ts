import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { killAll, type LivingProcess, processesWith } from '../../operations/session-processes.ts';
import { findProgram } from '../../programs/find-program.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Of util-linux; it makes terminals. */
const SCRIPT = findProgram('script');

test.skip(process.platform !== 'linux', 'processes are looked for in /proc');
// It builds its pages and add-ons first.
test.describe.configure({ timeout: 180_000 });

let state: string;
test.beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'longhaul-ends-'));
});
test.afterEach(() => {
  killAll(left());
  rmSync(state, { recursive: true, force: true });
});

/** All that runs for this test has its folder in the command line. */
function left(): LivingProcess[] {
  return processesWith(state);
}

async function shown(child: ChildProcess, text: string): Promise<void> {
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  await expect.poll(() => output, { timeout: 120_000 }).toContain(text);
}

async function start(shell: string): Promise<{ npm: number; script: number }> {
  const child = spawn('npm', ['start', '--', '--port', '0', '--state', state], {
    cwd: root,
    // A session of its own: nobody else is told when something of it ends.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, npm_config_script_shell: findProgram(shell) ?? shell },
  });
  await shown(child, '\nready {');
  const script = left().find(({ command }) => /^node .*\bmain\.ts /.test(command));
  expect(left().length, 'npm, the script, a master and three depots').toBeGreaterThanOrEqual(6);
  return { npm: child.pid ?? 0, script: script?.pid ?? 0 };
}

for (const shell of ['sh', 'bash']) {
  for (const target of ['npm', 'script'] as const) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
      // A script is no other by the shell that it was started by.
      if (shell === 'bash' && target === 'script') continue;
      test(`npm start by ${shell} leaves nothing behind when ${target} gets ${signal}`, async () => {
        const started = await start(shell);
        process.kill(started[target], signal);
        await expect.poll(left).toEqual([]);
      });
    }
  }
}

test('npm start leaves nothing behind when its terminal is closed', async () => {
  test.skip(SCRIPT === undefined, 'needs script(1), which makes a terminal');
  const command = `npm start -- --port 0 --state ${state}`;
  const terminal = spawn(SCRIPT ?? '', ['-qfec', command, '/dev/null'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await shown(terminal, '\nready {');
  terminal.kill('SIGKILL');
  await expect.poll(left).toEqual([]);
});
