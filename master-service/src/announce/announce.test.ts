import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const PATIENCE = { timeout: 30_000 };

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-announce-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** A master that says how it is, and counts the connections that it is asked over. */
async function startMaster(): Promise<{
  server: Server;
  url: string;
  state: { status: number; connections: number };
}> {
  const state = { status: 200, connections: 0 };
  const server = createServer((_, response) => {
    response.writeHead(state.status).end('so\n');
  });
  server.on('connection', () => {
    state.connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz/anycast` };
}

/** Starts the program with a script that notes each word; gives the words without repetitions. */
function announce(url: string, script: string): () => string[] {
  const words = join(folder, 'words');
  writeFileSync(words, '');
  const run = join(folder, 'route.sh');
  writeFileSync(run, `#!/bin/sh\n${script.replaceAll('WORDS', words)}\n`);
  chmodSync(run, 0o755);
  child = spawn(process.execPath, [MAIN, '--url', url, '--run', run], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  return () => {
    const all = readFileSync(words, 'utf8').trim().split('\n');
    return all.filter((word, index) => word !== '' && word !== all[index - 1]);
  };
}

test('a route follows what a master says, goes when it does not listen, and does not outlive the program', async () => {
  const { server, state, url } = await startMaster();
  const words = announce(url, 'echo "$1" >> WORDS');
  await expect.poll(words, PATIENCE).toEqual(['announce']);
  state.status = 503;
  await expect.poll(words, PATIENCE).toEqual(['announce', 'withdraw']);
  state.status = 200;
  await expect.poll(words, PATIENCE).toEqual(['announce', 'withdraw', 'announce']);
  // A connection each time would be refused by a master that has as many as it takes.
  expect(state.connections).toBe(1);
  const { port } = server.address() as AddressInfo;
  server.close().closeAllConnections();
  await expect.poll(words, PATIENCE).toEqual(['announce', 'withdraw', 'announce', 'withdraw', 'leave']);
  server.listen(port, '127.0.0.1');
  await expect.poll(() => words().at(-1), PATIENCE).toBe('announce');
  child?.kill('SIGTERM');
  const [code] = (await once(child as ChildProcess, 'exit')) as [number | null];
  expect([code, words().at(-1)]).toEqual([0, 'withdraw']);
  server.close().closeAllConnections();
}, 120_000);

test('a script that fails is run again, and the log says why', async () => {
  const { server, url } = await startMaster();
  const words = announce(url, 'echo "$1 $(wc -l < WORDS)" >> WORDS; test "$(wc -l < WORDS)" -gt 1');
  await expect.poll(() => words().length, PATIENCE).toBeGreaterThan(1);
  const log = text(child?.stderr as NonNullable<ChildProcess['stderr']>);
  child?.kill('SIGINT');
  await once(child as ChildProcess, 'exit');
  expect(await log).toContain('it ended with 1');
  server.close().closeAllConnections();
}, 120_000);

test('a route is withdrawn at the end, though the script fails at first', async () => {
  const { server, url } = await startMaster();
  const words = announce(
    url,
    'echo "$1" >> WORDS; test "$1" = announce || { test -e WORDS.failed && echo gone >> WORDS; } || { touch WORDS.failed; exit 1; }',
  );
  await expect.poll(words, PATIENCE).toEqual(['announce']);
  child?.kill('SIGTERM');
  const [code] = (await once(child as ChildProcess, 'exit')) as [number | null];
  expect([code, words()]).toEqual([0, ['announce', 'withdraw', 'gone']]);
  server.close().closeAllConnections();
}, 120_000);

test('a URL that is none is refused, and how the program is called stands there', async () => {
  child = spawn(process.execPath, [MAIN, '--url', 'ftp://x', '--run', 'x'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [log, [code]] = await Promise.all([
    text(child.stderr as NonNullable<ChildProcess['stderr']>),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  expect(code).toBe(2);
  expect(log).toMatch(/ftp:\/\/x is no http or https URL[^]*Usage: longhaul-announce --url/);
}, 60_000);
