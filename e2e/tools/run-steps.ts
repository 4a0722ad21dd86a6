import { type StdioOptions, spawn } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

const WITH_CHANNEL: StdioOptions = ['inherit', 'inherit', 'inherit', 'ipc'];

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** Runs every step, also after one has failed, and ends the process with 1 if any did. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  const failed: string[] = [];
  for (const { name, command } of steps) {
    const started = performance.now();
    const ok = (await run(command, 'inherit')) === 0;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
    if (!ok) failed.push(name);
  }
  if (failed.length > 0) {
    process.stderr.write(`Failed: ${failed.join(', ')}. \`npm run fix\` repairs what can be repaired.\n`);
    process.exitCode = 1;
  }
}

/**
 * Runs programs of this repository (`run.mjs`) until one fails, and ends the process as that one did. They
 * end with this process, however it ends, because they have a channel to it.
 */
export async function runInTurn(steps: readonly (readonly [string, ...string[]])[]): Promise<void> {
  for (const step of steps) {
    const code = await run([process.execPath, 'e2e/tools/run.mjs', ...step], WITH_CHANNEL);
    if (code === 0) continue;
    process.exitCode = code;
    return;
  }
}

/** Gives its exit code; 1 where it could not be started or was ended by a signal. */
function run([program, ...args]: Step['command'], stdio: StdioOptions): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio });
    child.once('error', (error) => {
      process.stderr.write(`${program}: ${error.message}\n`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
