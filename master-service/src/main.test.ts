import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ERRORS } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('longhaul-master.mjs', import.meta.url));
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
const CONFIG = `
listen: { host: 127.0.0.1, port: 0 }
stateDir: state
origins: [origin.example]
`;
const DAY_MS = 86_400_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhaul-master-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function configFile(content: string): Promise<string> {
  const file = join(folder, 'master.yaml');
  await writeFile(file, content);
  return file;
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code] = (await once(child, 'exit')) as unknown[];
  return code;
}

test('a master says on one line where it is, serves, and ends cleanly when it is asked to', async () => {
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  const [line] = (await once(child.stdout, 'data')) as Buffer[];
  const ready = /^ready (\{.*\})\n$/.exec(String(line))?.[1] ?? '';
  const { url } = JSON.parse(ready) as { url: string };
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
  const exit = exitOf(child);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('a second master on the same state is refused with what to do, and the next one starts after the first was killed', async () => {
  const start = async () => spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  const first = await start();
  onTestFinished(() => void first.kill('SIGKILL'));
  await once(first.stdout, 'data');
  const second = await start();
  const [code, stderr, stdout] = await Promise.all([
    exitOf(second),
    text(second.stderr),
    text(second.stdout),
  ]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `longhaul-master: state-in-use: ${ERRORS['state-in-use'].message} (${join(folder, 'state')})\n`,
  );
  const exit = exitOf(first);
  first.kill('SIGKILL');
  await exit;
  const next = await start();
  const [line] = (await once(next.stdout, 'data')) as Buffer[];
  expect(String(line)).toMatch(/^ready /);
  const ended = exitOf(next);
  next.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test.skipIf(process.platform === 'win32')(
  'a master warns of a certificate that is about to expire, tells metrics how long it lasts, and looks again after a reload',
  async () => {
    const nowMs = Date.now();
    const renew = async (days: number) => {
      const { cert, key } = selfSigned({ fromMs: nowMs - 300 * DAY_MS, toMs: nowMs + days * DAY_MS });
      await writeFile(join(folder, 'cert.pem'), cert);
      await writeFile(join(folder, 'key.pem'), key);
    };
    await renew(10);
    const config = `${CONFIG}tls: { certFile: cert.pem, keyFile: key.pem }\npublicUrl: https://127.0.0.1:0\n`;
    const child = spawn(process.execPath, [MAIN, '--config', await configFile(config)]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      log += part;
    });
    const [line] = (await once(child.stdout, 'data')) as Buffer[];
    const { url } = JSON.parse(String(line).replace(/^ready /, '')) as { url: string };
    const daysLeft = async () => {
      const asked = get(`${url}/metrics`, { rejectUnauthorized: false });
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const seconds = /certificate_seconds_left\{certificate="tls"\} (\S+)/.exec(await text(answer))?.[1];
      return Math.round(Number(seconds) / 86_400);
    };
    const warnings = () => log.match(/"code":"certificate-ending".*"msg":"tls: /g)?.length;
    await expect.poll(warnings, { timeout: 10_000 }).toBe(1);
    expect(await daysLeft()).toBe(10);
    await renew(60);
    child.kill('SIGHUP');
    await expect.poll(daysLeft, { timeout: 10_000 }).toBe(60);
    expect(warnings()).toBe(1);
    await renew(5);
    child.kill('SIGHUP');
    await expect.poll(warnings, { timeout: 10_000 }).toBe(2);
  },
  30_000,
);

test.skipIf(process.platform === 'win32')(
  'a master that gets SIGHUP says that it reads files of prefixes, and what came of it',
  async () => {
    const file = await configFile(`${CONFIG}prefixes: { site: df, coverageFile: coverage.txt }\n`);
    await writeFile(join(folder, 'coverage.txt'), '192.0.2.0/24 rj');
    const child = spawn(process.execPath, [MAIN, '--config', file]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk;
    });
    await once(child.stdout, 'data');
    /** What it has said since it got the signal for the last time, in whole lines. */
    const said = () => {
      const all = [...log.matchAll(/"msg":"([^"]*)"\}\n/g)].map(([, message = '']) => message);
      return all.slice(all.findLastIndex((message) => message.startsWith('reloaded')));
    };
    const told = async (end: string) => {
      child.kill('SIGHUP');
      await expect.poll(said, { timeout: 10_000 }).toContainEqual(end);
      return said();
    };
    const reading = 'reloaded: nothing yet; being read: prefixes';
    expect(await told('prefixes taken')).toEqual([reading, 'prefixes loaded', 'prefixes taken']);
    await configFile(`${CONFIG}prefixes: { site: pe, coverageFile: coverage.txt }\n`);
    await writeFile(join(folder, 'coverage.txt'), 'nonsense');
    const refused = 'prefixes not taken: files with mistakes, and the site, stay as they were';
    expect(await told(refused)).toEqual([
      reading,
      expect.stringContaining('prefixes not loaded') as string,
      refused,
    ]);
    await configFile(`${CONFIG}prefixes: { site: pe }\n`);
    expect(await told('reloaded: prefixes')).toEqual(['reloaded: prefixes']);
  },
);

test.skipIf(process.platform === 'win32')(
  'a master that gets SIGHUP while its sources are loaded becomes ready, and reads its files once more then',
  async () => {
    const config = await configFile(CONFIG);
    const child = spawn(process.execPath, ['--import', HANG_UP_EARLY, PROGRAM, '--config', config]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const log = text(child.stderr);
    const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as unknown[];
    expect(String(line)).toMatch(/^ready /);
    const exit = exitOf(child);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect((await log).match(/"msg":"reloaded: /g)).toHaveLength(1);
  },
);

test.skipIf(process.platform === 'win32')(
  'a command that gets SIGHUP while its sources are loaded ends by it',
  async () => {
    const command = ['list-tokens', '--config', await configFile(CONFIG)];
    const child = spawn(process.execPath, ['--import', HANG_UP_EARLY, PROGRAM, ...command]);
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await once(child, 'exit')).toEqual([null, 'SIGHUP']);
  },
);

test('a master whose address is announced serves on after SIGTERM until routes have changed, and ends at once at the next', async () => {
  // For so long that nothing but the next signal ends it before this test gives up.
  const config = `${CONFIG}timeouts: { drainSeconds: 3600 }\n`;
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(config)]);
  const exit = exitOf(child);
  let insist: NodeJS.Timeout | undefined;
  try {
    const [line] = (await once(child.stdout, 'data')) as Buffer[];
    const { url } = JSON.parse(String(line).replace(/^ready /, '')) as { url: string };
    const health = async () => (await fetch(`${url}/healthz/anycast`)).text();
    expect(await health()).toBe('ready\n');
    child.kill('SIGTERM');
    await expect.poll(health, { timeout: 10_000 }).toBe('draining\n');
    expect((await fetch(`${url}/v1/status`)).status).toBe(200);
    // What follows the first within half a second is taken for the same request.
    insist = setInterval(() => child.kill('SIGTERM'), 100);
    expect(await exit).toBe(0);
  } finally {
    clearInterval(insist);
    child.kill('SIGKILL');
  }
}, 30_000);

test('a master says in its log that a depot has the wrong secret: once a minute, with what to do', async () => {
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  const log = text(child.stderr);
  const [line] = (await once(child.stdout, 'data')) as Buffer[];
  const { url } = JSON.parse(String(line).replace(/^ready /, '')) as { url: string };
  for (let tries = 0; tries < 3; tries += 1) {
    const headers = { 'Longhaul-Enrolment': 'by-another-secret' };
    const answer = await fetch(`${url}/v1/depots`, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(403);
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('longhaul_master_refusals_total{code="enrolment-refused"} 3');
  const exit = exitOf(child);
  child.kill('SIGTERM');
  await exit;
  const lines = (await log)
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry) as object);
  const warnings = lines.filter((entry) => 'level' in entry && entry.level === 40);
  expect(warnings).toEqual([
    expect.objectContaining({
      code: 'enrolment-refused',
      address: '127.0.0.1',
      msg: expect.stringContaining('The enrolment secret is wrong') as string,
    }),
  ]);
});

test('a master that a program started tells it where it is and ends with it', async () => {
  const child = fork(MAIN, ['--config', await configFile(CONFIG)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = (await once(child, 'message')) as unknown[];
  expect(message).toEqual({ ready: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string } });
  const exit = exitOf(child);
  child.disconnect();
  expect(await exit).toBe(0);
});

test('a master that cannot save its state says so by a line with a code for each file, and ends in order all the same', async () => {
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const log = text(child.stderr);
  await once(child.stdout, 'data');
  const state = join(folder, 'state');
  // What a start saves is there.
  await expect
    .poll(async () => (await readdir(state)).toSorted(), { timeout: 10_000 })
    .toEqual(['enrolment-secret', 'facts.jsonl', 'lock', 'signing-key.pem', 'signing-keys.json']);
  await rename(state, join(folder, 'elsewhere'));
  const exit = exitOf(child);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
  const errors = (await log)
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry) as Readonly<Record<string, unknown>>)
    .filter(({ level }) => level === 50);
  const line = (file: string) =>
    expect.objectContaining({
      code: 'state-unusable',
      msg: expect.stringMatching(new RegExp(`^not saved: .*${file}: there is no such file`)) as string,
    }) as object;
  // One is written beside the other.
  expect(errors).toHaveLength(2);
  expect(errors).toEqual(expect.arrayContaining([line('enrolment\\.json'), line('facts\\.jsonl')]));
  for (const error of errors) expect(error).not.toHaveProperty('err');
});

test.each([
  ['signing-key.pem', 'nonsense'],
  ['signing-key.pem', ''],
  ['enrolment-secret', 'short'],
  ['signing-keys.json', '{"version":1,'],
  ['enrolment.json', '{"facts":7}'],
  ['depots.json', '{"depots":[{}]}'],
])('a damaged %s (%j) stops the start, stays as it is, and the refusal names it', async (name, content) => {
  const state = join(folder, 'state');
  await mkdir(state);
  await writeFile(join(state, name), content);
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  const [code, stderr, stdout] = await Promise.all([exitOf(child), text(child.stderr), text(child.stdout)]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^longhaul-master: state-damaged: .*\(stateDir\).*restore it from a copy/);
  expect(stderr).toContain(`(${name}`);
  expect(stdout).toBe('');
  expect(await readFile(join(state, name), 'utf8')).toBe(content);
});

test('a damaged snapshot of facts stops nothing, and is told in the log', async () => {
  const state = join(folder, 'state');
  await mkdir(state);
  await writeFile(join(state, 'facts.jsonl'), '\0\0\0\n{"kind"');
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(CONFIG)]);
  const said = text(child.stderr);
  const [line] = (await once(child.stdout, 'data')) as Buffer[];
  const { url } = JSON.parse(String(line).replace(/^ready /, '')) as { url: string };
  const answer = await fetch(`${url}/get/https/origin.example/file.iso`, { redirect: 'manual' });
  expect(answer.status).toBe(307);
  expect(answer.headers.get('location')).toMatch(/^https:\/\/origin\.example\/file\.iso(#|$)/);
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
    /facts_refused_total\{code="fact-malformed"\} 2/,
  );
  const exit = exitOf(child);
  child.kill('SIGTERM');
  await exit;
  expect(await said).toMatch(/"code":"fact-malformed","from":"file","facts":2/);
});

test.each([
  [
    'mistakes',
    'listen: { host: x, port: -1 }\nzap: 1\n',
    /listen\.host: .*listen\.port: .*stateDir: .*zap: /s,
  ],
  ['no YAML', 'listen: {', /is not YAML/],
  ['a certificate that is not there', `${CONFIG}tls: { certFile: a.pem, keyFile: b.pem }\n`, /tls: .*a\.pem/],
])('a configuration with %s stops the start with exit code 1 and says why', async (_, content, message) => {
  const child = spawn(process.execPath, [MAIN, '--config', await configFile(content)]);
  const [code, stderr, stdout] = await Promise.all([exitOf(child), text(child.stderr), text(child.stdout)]);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
});

test.skipIf(process.platform !== 'linux')(
  'a state folder that cannot be made stops the start with a code and what to do, at once',
  async () => {
    const config = CONFIG.replace('stateDir: state', 'stateDir: /proc/nost/state');
    const child = spawn(process.execPath, [MAIN, '--config', await configFile(config)]);
    // One that tries for ever must not outlive this test.
    onTestFinished(() => void child.kill('SIGKILL'));
    const [code, stderr] = await Promise.all([exitOf(child), text(child.stderr)]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^longhaul-master: state-unusable: .*\(stateDir\).*\(\/proc\/nost: no folder can be made there/,
    );
  },
);
