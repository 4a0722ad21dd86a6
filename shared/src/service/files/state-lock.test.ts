import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const LOCK = new URL('./state-lock.ts', import.meta.url).href;

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A process that locks a folder and holds it until it is killed, or says why it cannot. */
function holder(folder: string): ChildProcess & { readonly stdout: NonNullable<ChildProcess['stdout']> } {
  const program =
    `import { lockStateFolder } from ${JSON.stringify(LOCK)};` +
    `try { lockStateFolder(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000); }` +
    `catch (failure) { console.log(failure.code + ' ' + failure.message); }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function held(child: ReturnType<typeof holder>): Promise<void> {
  expect(String((await once(child.stdout, 'data'))[0])).toBe('held\n');
}

test('a state folder has one process at a time, by whatever path; one that was killed leaves it free', async () => {
  const folder = testFolder();
  const first = holder(folder);
  await held(first);
  const link = join(testFolder(), 'link');
  symlinkSync(folder, link, 'junction');
  for (const path of [folder, link]) {
    const refusal = await text(holder(path).stdout);
    expect(refusal).toMatch(/^state-in-use .*end it, or give each .*\(stateDir\)/);
    expect(refusal).toContain(path);
  }
  const exited = once(first, 'exit');
  first.kill('SIGKILL');
  await exited;
  const second = holder(folder);
  await held(second);
  expect(statSync(join(folder, 'lock')).size, 'nothing is written, as on a full disk').toBe(0);
  if (process.platform !== 'win32') expect(statSync(join(folder, 'lock')).mode & 0o777).toBe(0o600);
});

test('what saves have left that were cut is gone when a folder is locked, and nothing else', async () => {
  const folder = testFolder();
  const left = ['facts.jsonl.0123456789ab.tmp', 'enrolment.json.ffffffffffff.tmp'];
  const others = ['facts.jsonl', 'note.tmp', 'facts.jsonl.0123456789ab.tmp.txt'];
  for (const name of [...left, ...others]) writeFileSync(join(folder, name), name);
  await held(holder(folder));
  expect(readdirSync(folder).toSorted()).toEqual([...others, 'lock'].toSorted());
  // A save of the service that runs, beside which another one is refused.
  writeFileSync(join(folder, left[0] ?? ''), '');
  expect(await text(holder(folder).stdout)).toMatch(/^state-in-use/);
  expect(readdirSync(folder)).toContain(left[0]);
});

test('a folder is locked also where something that looks like a cut save cannot be removed', async () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'facts.jsonl.0123456789ab.tmp'));
  await held(holder(folder));
  expect(readdirSync(folder)).toContain('lock');
});

test('a folder in which nothing can be locked is refused as unusable', async () => {
  const file = join(testFolder(), 'file');
  writeFileSync(file, '');
  expect(await text(holder(file).stdout)).toMatch(/^state-unusable .*lock: /);
});
