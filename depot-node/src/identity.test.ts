import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  isRotated,
  loadIdentity,
  loadNextIdentity,
  readOverlayKey,
  saveOverlayKey,
  takeNextIdentity,
} from './identity.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-identity-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the key is made once, for nobody else to read', () => {
  const { publicKey } = loadIdentity('d1', openStateFolder(folder));
  expect(statSync(join(folder, 'depot-key.pem')).mode & 0o777).toBe(0o600);
  expect(loadIdentity('d1', openStateFolder(folder)).publicKey).toBe(publicKey);
});

test.each([
  ['text', 'no key at all'],
  ['nothing', ''],
  ['half a key', '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw'],
])('a key file with %s in it stops the start, is kept, and the refusal says what to do', (_, content) => {
  writeFileSync(join(folder, 'depot-key.pem'), content);
  const load = () => loadIdentity('d1', openStateFolder(folder));
  expect(load).toThrow(/restore it from a copy, or remove it and join with a new token.*depot-key\.pem/);
  expect(readFileSync(join(folder, 'depot-key.pem'), 'utf8')).toBe(content);
});

test('a key file that cannot be read stops the start, and no other key is made', () => {
  mkdirSync(join(folder, 'depot-key.pem'));
  expect(() => loadIdentity('d1', openStateFolder(folder))).toThrow(/state folder.*depot-key\.pem/);
  expect(readdirSync(folder)).toEqual(['depot-key.pem']);
});

test('what masters are known by is damaged, too, where it is no key', async () => {
  const state = openStateFolder(folder);
  expect(readOverlayKey(state)).toBeUndefined();
  await saveOverlayKey(state, 'A'.repeat(43));
  expect(readOverlayKey(state)).toBe('A'.repeat(43));
  writeFileSync(join(folder, 'overlay-key'), 'short');
  expect(() => readOverlayKey(state)).toThrow(/overlay-key/);
});

test('the next key waits beside the one that counts until it takes its place', async () => {
  const state = openStateFolder(folder);
  const { publicKey } = loadIdentity('d1', state);
  const next = loadNextIdentity('d1', state);
  expect(loadNextIdentity('d1', state).publicKey).toBe(next.publicKey);
  expect(loadIdentity('d1', state).publicKey).toBe(publicKey);
  await takeNextIdentity(state);
  expect(loadIdentity('d1', state).publicKey).toBe(next.publicKey);
  expect(readdirSync(folder)).toEqual(['depot-key.pem']);
  expect(statSync(join(folder, 'depot-key.pem')).mode & 0o777).toBe(0o600);
});

test('the next key is another one also where a crash has left the one that counts in its place', async () => {
  const state = openStateFolder(folder);
  loadIdentity('d1', state);
  const taken = loadNextIdentity('d1', state);
  const pem = state.read('depot-key.next.pem') ?? '';
  await takeNextIdentity(state);
  await state.save('depot-key.next.pem', pem);
  expect(loadIdentity('d1', state).publicKey).toBe(taken.publicKey);
  const next = loadNextIdentity('d1', state);
  expect(next.publicKey).not.toBe(taken.publicKey);
  expect(loadNextIdentity('d1', state).publicKey, 'which stays').toBe(next.publicKey);
});

test('a key is rotated once another one has taken its place, and not because its file is gone or damaged', async () => {
  const state = openStateFolder(folder);
  const identity = loadIdentity('d1', state);
  const next = loadNextIdentity('d1', state);
  expect(isRotated(identity, state)).toBe(false);
  await takeNextIdentity(state);
  expect([isRotated(identity, state), isRotated(next, state)]).toEqual([true, false]);
  writeFileSync(join(folder, 'depot-key.pem'), 'no key');
  expect(isRotated(identity, state)).toBe(false);
  rmSync(join(folder, 'depot-key.pem'));
  expect(isRotated(identity, state)).toBe(false);
});

/** Runs a command with a full disk at `path`; needs a mount namespace of its own. */
function runOnFullDisk(path: string, command: string, ...args: readonly string[]) {
  const script =
    'mount -t tmpfs -o size=16k full "$0" && (cat /dev/zero > "$0/filling" 2>/dev/null; "$@"; code=$?; ls "$0"; exit $code)';
  return spawnSync(
    'unshare',
    ['--user', '--map-root-user', '--mount', 'sh', '-c', script, path, command, ...args],
    {
      encoding: 'utf8',
    },
  );
}

test.skipIf(process.platform !== 'linux' || runOnFullDisk(tmpdir(), 'true').status !== 0)(
  'a full disk stops the start with a sentence, and leaves no half key behind',
  () => {
    const program = `
      import { openStateFolder } from '@longhaul/shared/service';
      import { loadIdentity } from ${JSON.stringify(join(import.meta.dirname, 'identity.ts'))};
      try { loadIdentity('d1', openStateFolder(${JSON.stringify(folder)})); }
      catch (failure) { console.log(failure.code, failure.message); }`;
    const { stdout } = runOnFullDisk(folder, process.execPath, '--input-type=module', '--eval', program);
    expect(stdout).toMatch(/^state-unusable .*make room.*the disk is full/);
    expect(stdout.trim().split('\n').slice(1)).toEqual(['filling']);
  },
);
