import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStateFolder } from './state-folder.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'longhaul-state-'));
});
afterEach(() => rm(base, { recursive: true }));

describe('a state folder', () => {
  test('is made private, and so is everything in it', async () => {
    const path = join(base, 'new', 'state');
    const state = openStateFolder(path);
    state.readOrMake('key', () => 'secret');
    await state.save('list', 'text');
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const file of ['key', 'list']) expect((await stat(join(path, file))).mode & 0o777).toBe(0o600);
    expect((await readdir(path)).toSorted(), 'nothing half-written is left').toEqual(['key', 'list']);
  });

  test('makes a file once and keeps it over restarts', () => {
    expect(openStateFolder(base).readOrMake('key', () => 'first')).toBe('first');
    expect(openStateFolder(base).readOrMake('key', () => 'second')).toBe('first');
    expect(openStateFolder(base).read('other')).toBeUndefined();
  });

  test('has what was saved last, even when saves overlap', async () => {
    const state = openStateFolder(base);
    await Promise.all(['one', 'two', 'three'].map((text) => state.save('list', text)));
    expect(state.read('list')).toBe('three');
  });

  test('says so when a file cannot be written, and takes the next one', async () => {
    const state = openStateFolder(base);
    await rm(base, { recursive: true });
    await expect(state.save('list', 'lost')).rejects.toThrow('ENOENT');
    openStateFolder(base);
    await state.save('list', 'new');
    expect(state.read('list')).toBe('new');
  });

  test('does not take a folder in the place of a file for a missing one', async () => {
    await writeFile(join(base, 'state'), '');
    expect(() => openStateFolder(join(base, 'state'))).toThrow('EEXIST');
    expect(() => openStateFolder(base).read('.')).toThrow('EISDIR');
  });
});
