import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { formatChallengeTarget } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startTestMaster } from './testing/test-master.ts';

const PROGRAM = join(import.meta.dirname, 'main.ts');
const BIN = join(import.meta.dirname, 'longhaul-depot.mjs');
/** Has a program get SIGHUP while its sources are being loaded. */
const HANG_UP_EARLY = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.endsWith('/src/main.ts')) process.kill(process.pid, 'SIGHUP');
      return next(url, context);
    },
  });
`)}`;

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

test.skipIf(process.platform === 'win32')(
  'a depot that gets SIGHUP while its sources are loaded becomes ready, and reads its files once more then',
  async () => {
    const config = join(folder, 'depot.yaml');
    const child = spawn(process.execPath, ['--import', HANG_UP_EARLY, BIN, '--config', config], {
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const log = text(child.stderr);
    const exited = once(child, 'exit');
    const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as unknown[];
    expect(String(line)).toMatch(/^ready /);
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
    expect((await log).match(/"msg":"reloaded: /g)).toHaveLength(1);
  },
);

/** Starts a depot of a test master with this secret; ends it with the test. */
async function joinOverlay(secret: string, ...more: readonly string[]) {
  const master = await startTestMaster();
  const dir = mkdtempSync(join(folder, 'joined-'));
  writeFileSync(join(dir, 'secret'), secret);
  const config = [
    'id: d1',
    'listen: { host: 127.0.0.1, port: 0 }',
    'stateDir: state',
    `master: { url: "${master.url}", enrolmentSecretFile: secret }`,
    ...more,
  ];
  writeFileSync(join(dir, 'depot.yaml'), config.join('\n'));
  const child = spawn(process.execPath, [PROGRAM, '--config', join(dir, 'depot.yaml')]);
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await exited;
    await master.close();
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    log += part;
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const ready = JSON.parse(String(line).replace(/^ready /, '')) as { url: string };
  const get = async (path: string) => {
    const answer = await fetch(ready.url + path);
    return [answer.status, await answer.text()];
  };
  return {
    ready,
    get,
    log: () => log,
    master,
    child,
    secretFile: join(dir, 'secret'),
    configFile: join(dir, 'depot.yaml'),
  };
}

test('a second depot on the same state is refused with what to do', async () => {
  const { child, configFile } = await joinOverlay('test-secret');
  const second = spawn(process.execPath, [PROGRAM, '--config', configFile]);
  const exited = once(second, 'exit');
  expect(await text(second.stderr)).toMatch(/^longhaul-depot: state-in-use: .*end it, or give each/);
  expect(await exited).toEqual([1, null]);
  expect(child.exitCode, 'the first goes on').toBeNull();
});

describe('a depot that its master refuses', () => {
  test('says so when it starts, in its log, in its metrics and to whoever asks for its health', async () => {
    const { ready, get, log } = await joinOverlay('copied wrongly');
    const sentence = expect.stringContaining('The enrolment secret is wrong') as string;
    expect(ready).toMatchObject({
      isMember: false,
      problem: { code: 'enrolment-refused', message: sentence },
    });
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    expect(await get('/healthz/ready')).toEqual([
      503,
      expect.stringMatching(/^not ready\nenrolment-refused: The enrolment secret is wrong/),
    ]);
    expect((await get('/metrics'))[1]).toContain('longhaul_depot_member 0');
    const lines = log()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { level: number; msg: string });
    // 50 is an error: somebody must act.
    expect(lines).toContainEqual(expect.objectContaining({ level: 50, msg: sentence }));
  });
});

test.skipIf(process.platform === 'win32')(
  'a depot becomes a member when its secret is corrected and it gets SIGHUP',
  async () => {
    const { get, log, master, child, secretFile } = await joinOverlay('copied wrongly');
    writeFileSync(secretFile, master.secret);
    child.kill('SIGHUP');
    await expect.poll(() => get('/healthz/ready')).toEqual([200, 'ready\n']);
    await expect.poll(log).toContain('"msg":"reloaded: master.enrolmentSecretFile"');
  },
);

test.skipIf(process.platform === 'win32')(
  'a depot that gets SIGHUP while its secret is being rewritten goes on with the one it has',
  async () => {
    const { get, log, child, secretFile } = await joinOverlay('test-secret');
    writeFileSync(secretFile, '');
    child.kill('SIGHUP');
    await expect.poll(log).toMatch(/"msg":"(not )?reloaded/);
    expect(log()).toMatch(
      /not reloaded, everything goes on as it was: .*master\.enrolmentSecretFile: .* is empty/,
    );
    expect(await get('/healthz/ready')).toEqual([200, 'ready\n']);
  },
);

test('strangers learn that a depot is not ready, and by which code, but not where it thinks it is', async () => {
  const { get } = await joinOverlay('copied wrongly', 'metricsNetworks: [192.0.2.0/24]');
  expect(await get('/healthz/ready')).toEqual([503, 'not ready\nenrolment-refused\n']);
});

describe('a depot that its master takes', () => {
  test.skipIf(process.platform !== 'linux')('tells how many of its relay threads live', async () => {
    const { get } = await joinOverlay('test-secret', 'relay: { threads: 3 }');
    expect((await get('/metrics'))[1]).toContain('longhaul_depot_relay_threads 3\n');
  });

  test('says so, and proves at its address that it is there', async () => {
    const { ready, get, log } = await joinOverlay('test-secret');
    expect(ready).toMatchObject({ isMember: true });
    expect(await get('/healthz/ready')).toEqual([200, 'ready\n']);
    expect((await get('/metrics'))[1]).toContain('longhaul_depot_member 1');
    expect(log()).not.toContain('"level":50');
    const [status, proof] = await get(formatChallengeTarget('c'.repeat(43)));
    expect([status, JSON.parse(String(proof))]).toEqual([
      200,
      { id: 'd1', signature: expect.stringMatching(/^[\w-]{86}$/) as string },
    ]);
    expect((await get('/.well-known/longhaul-depot?challenge=short'))[0]).toBe(400);
  });
});
