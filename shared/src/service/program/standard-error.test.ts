import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

const PROGRAM = new URL('./standard-error.ts', import.meta.url).href;

/** Starts a program that writes to the log. */
function start(work: string) {
  const program = `import { openStandardError } from ${JSON.stringify(PROGRAM)}; const log = openStandardError(); ${work}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program]);
}

/** Runs a program that writes to the log, and gives what arrived, piece by piece. */
async function written(work: string): Promise<string[]> {
  const child = start(work);
  child.stdout.resume();
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

test.skipIf(process.platform === 'win32')(
  'a reader that does not read costs a bounded memory, and learns later how many lines it has missed',
  async () => {
    const child = start(`
      for (let n = 0; n < 100_000; n += 1) log.write('x'.repeat(99) + '\\n');
      console.log(process.stderr.writableLength);
      process.stdin.once('end', () => { throw new Error('a bug'); }).resume();
    `);
    onTestFinished(() => void child.kill());
    const [waiting] = (await once(child.stdout, 'data')) as [Buffer];
    expect(Number(waiting)).toBeGreaterThan(500_000);
    expect(Number(waiting)).toBeLessThan(2_000_000);
    let all = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      all += piece;
      if (all.includes('droppedLines')) child.stdin.end();
    });
    await once(child, 'close');
    const came = all.split('\n').filter((line) => /^x{99}$/.test(line));
    const dropped = Number(/"droppedLines":([0-9]+)/.exec(all)?.[1]);
    expect(came.length + dropped).toBe(100_000);
    expect(all).toContain('Error: a bug');
  },
);
