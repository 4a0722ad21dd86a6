import fs, { readdirSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStateFolder } from './state-folder.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'longhaul-state-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(base, { recursive: true });
});

/**
 * Calls back in place of each folder's being written through to the disk, by either way of Node, with the
 * names in it.
 */
async function onFolderSync(then: (names: string[]) => void): Promise<void> {
  const note = (descriptor: number) => {
    if (fs.fstatSync(descriptor).isDirectory()) then(readdirSync(base));
  };
  vi.spyOn(fs, 'fsyncSync').mockImplementation(note);
  syncBuiltinESMExports();
  const folder = await open(base);
  const handles = Object.getPrototypeOf(folder) as FileHandle;
  await folder.close();
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    note(this.fd);
  });
}

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

  test('tells its watcher once that a file cannot be saved, however often that is tried, and when it is saved again', async () => {
    const told: string[] = [];
    const state = openStateFolder(base, {
      onFailing: ({ code, detail }) => told.push(`${code} ${detail}`),
      onSavedAgain: (path) => told.push(`again ${path}`),
    });
    const list = join(base, 'list');
    await state.save('list', 'saved');
    await rm(base, { recursive: true });
    for (const text of ['one', 'two', 'three'])
      await expect(state.save('list', text)).rejects.toThrow('ENOENT');
    expect(told).toEqual([expect.stringContaining(`state-unusable ${list}: `)]);
    openStateFolder(base);
    await state.save('list', 'four');
    await state.save('list', 'five');
    expect(told.slice(1)).toEqual([`again ${list}`]);
    await rm(base, { recursive: true });
    await expect(state.save('list', 'six')).rejects.toThrow('ENOENT');
    openStateFolder(base);
    expect(told, 'that it fails anew is news').toHaveLength(3);
  });

  test('has what it saved on the disk by name, too, before it says so', async () => {
    const synced: string[][] = [];
    await onFolderSync((names) => synced.push(names));
    const state = openStateFolder(base);
    state.readOrMake('key', () => 'secret');
    expect(synced).toEqual([['key']]);
    await state.save('list', 'text');
    expect(synced).toEqual([['key'], ['key', 'list']]);
  });

  const refuseWith = (code: string) =>
    onFolderSync(() => {
      throw Object.assign(new Error(code), { code });
    });

  test('saves also where the file system writes no folder through', async () => {
    await refuseWith('EINVAL');
    const state = openStateFolder(base);
    expect(state.readOrMake('key', () => 'secret')).toBe('secret');
    await state.save('list', 'text');
    expect(state.read('list')).toBe('text');
  });

  test('says so when a disk that fails may not have what was saved', async () => {
    await refuseWith('EIO');
    const state = openStateFolder(base);
    expect(() => state.readOrMake('key', () => 'secret')).toThrow('EIO');
    await expect(state.save('list', 'text')).rejects.toThrow('EIO');
  });

  test('does not take a folder in the place of a file for a missing one', async () => {
    await writeFile(join(base, 'state'), '');
    expect(() => openStateFolder(join(base, 'state'))).toThrow('EEXIST');
    expect(() => openStateFolder(base).read('.')).toThrow('EISDIR');
  });
});
