import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** Runs every step, also after one has failed, and ends the process with 1 if any did. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  const failed: string[] = [];
  for (const { name, command } of steps) {
    const started = performance.now();
    const ok = await run(command);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
    if (!ok) failed.push(name);
  }
  if (failed.length > 0) {
    process.stderr.write(`Failed: ${failed.join(', ')}. \`npm run fix\` repairs what can be repaired.\n`);
    process.exitCode = 1;
  }
}

function run([program, ...args]: Step['command']): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
    child.once('error', (error) => {
      process.stderr.write(`${program}: ${error.message}\n`);
      resolve(false);
    });
    child.once('exit', (code) => resolve(code === 0));
  });
}
