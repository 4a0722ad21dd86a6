import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const PROGRAM = new URL('./standard-error.ts', import.meta.url).href;

/** Runs a program that writes to the log, and gives what arrived, piece by piece. */
async function written(work: string): Promise<string[]> {
  const program = `import { openStandardError } from ${JSON.stringify(PROGRAM)}; const log = openStandardError(); ${work}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const pieces: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    pieces.push(piece);
    // Some programs wait for the word that their first line is here.
    child.stdin.end();
  });
  await once(child, 'close');
  return pieces;
}

test('a line is there at once, while the process goes on', async () => {
  // Without the line its standard input would never end, nor would it.
  expect(await written("log.write('one\\n'); process.stdin.resume();")).toEqual(['one\n']);
});

test('the last of many lines are there when the process ends, however it does, in their order', async () => {
  const many = "for (let n = 0; n < 1000; n += 1) log.write(n + '\\n');";
  const wanted = Array.from({ length: 1000 }, (_, n) => `${n}\n`).join('');
  expect((await written(many)).join('')).toBe(wanted);
  expect((await written(`${many} process.exit(1);`)).join('')).toBe(wanted);
  expect((await written(`${many} throw new Error('a bug');`)).join('')).toContain(wanted);
});
