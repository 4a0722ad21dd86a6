import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DepotEntry, Directory } from '@longhaul/shared';
import { generateKeyPair, openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DepotDirectory } from './directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-directory-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function entry(id: string, publicKey = generateKeyPair().publicKey): DepotEntry {
  return { id, publicKey, host: '127.0.0.1', port: 7001, tls: false, addresses: ['127.0.0.1'], state: 'up' };
}

function told(depots: DepotEntry[], revokedKeys?: string[]): Directory {
  const revoked = revokedKeys ? { revokedKeys } : {};
  return { self: { state: 'up' }, depots, masterKeys: [], masterUrls: ['http://127.0.0.1:1'], ...revoked };
}

test('a key that one master has revoked is not brought back by another one that has not heard of it, nor by a restart', async () => {
  const directory = new DepotDirectory(openStateFolder(folder));
  const [d2, thief] = [entry('d2'), entry('d3')];
  await directory.update(told([d2, thief]));
  expect(directory.depotKey('d3')).toBeDefined();
  await directory.update(told([d2], [thief.publicKey]));
  await directory.update(told([d2, thief]));
  const again = new DepotDirectory(openStateFolder(folder));
  for (const known of [directory, again]) {
    expect([known.depot('d3'), known.depotKey('d3')]).toEqual([undefined, undefined]);
    expect(known.depot('d2')).toEqual(d2);
  }
  const renewed = entry('d3');
  await again.update(told([d2, renewed]));
  expect(again.depot('d3')).toEqual(renewed);
});

test('as many revoked keys are remembered as there can be depots, the newest', async () => {
  const directory = new DepotDirectory(openStateFolder(folder));
  const keys = Array.from({ length: 1_500 }, (_, index) => String(index).padStart(43, 'A'));
  for (let from = 0; from < keys.length; from += 100) {
    await directory.update(told([], keys.slice(from, from + 100)));
  }
  const again = new DepotDirectory(openStateFolder(folder));
  await again.update(told([entry('old', keys[0]), entry('new', keys.at(-1))]));
  expect([again.depot('old')?.id, again.depot('new')?.id]).toEqual(['old', undefined]);
});

test('a directory that cannot be kept counts all the same, and is kept as soon as it can be', async () => {
  const failures: unknown[] = [];
  const state = openStateFolder(folder, {
    onFailing: ({ code }) => failures.push(code),
    onSavedAgain: () => failures.push('again'),
  });
  const directory = new DepotDirectory(state);
  rmSync(folder, { recursive: true });
  for (let beats = 0; beats < 3; beats += 1) await directory.update(told([entry('d2')]));
  expect(directory.depot('d2')?.id).toBe('d2');
  const last = told([entry('d3')]);
  openStateFolder(folder);
  await directory.update(last);
  expect(failures).toEqual(['state-unusable', 'again']);
  expect(new DepotDirectory(openStateFolder(folder)).depot('d3')).toEqual(last.depots[0]);
});
