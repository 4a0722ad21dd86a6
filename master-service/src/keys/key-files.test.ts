import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadMasterKeys } from './key-files.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'longhaul-keys-'));
});
afterEach(() => rm(base, { recursive: true }));

test('the first start makes key and secret, readable by nobody else, and later ones keep them', async () => {
  const stateDir = join(base, 'new', 'state');
  const first = loadMasterKeys(openStateFolder(stateDir));
  expect(first.signingKey.keyId).toMatch(/^[A-Za-z0-9_-]{8,16}$/);
  expect(first.enrolmentSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect((await readdir(stateDir)).toSorted()).toEqual(['enrolment-secret', 'signing-key.pem']);
  for (const file of await readdir(stateDir)) {
    expect((await stat(join(stateDir, file))).mode & 0o777).toBe(0o600);
  }
  const second = loadMasterKeys(openStateFolder(stateDir));
  expect(second.enrolmentSecret).toBe(first.enrolmentSecret);
  expect(second.signingKey.publicKey).toBe(first.signingKey.publicKey);
  expect((await readFile(join(stateDir, 'enrolment-secret'), 'utf8')).trim()).toBe(first.enrolmentSecret);
});

test.each([
  ['signing-key.pem', 'not a key', /damaged.*\(signing-key\.pem\)/],
  ['enrolment-secret', 'short', /damaged.*\(enrolment-secret\)/],
])('a damaged %s stops the start and is kept', async (file, content, message) => {
  const state = openStateFolder(base);
  loadMasterKeys(state);
  await writeFile(join(base, file), content);
  expect(() => loadMasterKeys(state)).toThrow(message);
  expect(await readFile(join(base, file), 'utf8')).toBe(content);
});
