import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'main.ts');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-depot-main-'));
  writeFileSync(join(folder, 'secret'), 'secret');
  const lines = [
    'id: d1',
    'listen: { host: 127.0.0.1, port: 0 }',
    `stateDir: ${folder}/state`,
    // Nobody listens there: a depot comes up without its master.
    `master: { url: "http://127.0.0.1:1", enrolmentSecretFile: ${folder}/secret }`,
  ];
  writeFileSync(join(folder, 'depot.yaml'), lines.join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a depot, ends it as soon as it is ready or has failed, and gives what it said. */
async function run(relay: string | undefined): Promise<{ said: string; code: number | null }> {
  const { LONGHAUL_RELAY: _, ...environment } = process.env;
  const child = spawn(process.execPath, [PROGRAM, '--config', join(folder, 'depot.yaml')], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: relay === undefined ? environment : { ...environment, LONGHAUL_RELAY: relay },
  });
  const said = text(child.stderr ?? process.stdin);
  const exited = once(child, 'exit');
  await Promise.race([once(child, 'message'), exited]);
  child.kill('SIGINT');
  const [code] = (await exited) as [number | null];
  return { said: await said, code };
}

describe('a depot as a program', () => {
  test('moves bytes by streams when it is told to, says so once, and ends when asked', async () => {
    const { said, code } = await run('streams');
    expect(said.match(/relay by streams/g)).toHaveLength(1);
    expect(code).toBe(0);
  });

  test.skipIf(process.platform !== 'linux')(
    'moves them inside the kernel otherwise, and its thread does not keep it alive',
    async () => {
      const { said, code } = await run(undefined);
      expect(said).not.toContain('relay by streams');
      expect(code).toBe(0);
    },
  );

  test('refuses to guess what a relay is', async () => {
    const { said, code } = await run('fast');
    expect(said).toContain("LONGHAUL_RELAY is 'fast': set it to streams or splice, or leave it out");
    expect(code).toBe(1);
  });
});
