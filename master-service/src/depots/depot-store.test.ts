import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { type DepotStore, FileDepotStore, type KeptDepot } from './depot-store.ts';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'longhaul-store-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

const record = (id: string): KeptDepot => ({
  id,
  publicKey: 'k',
  host: '127.0.0.1',
  port: 1,
  tls: false,
  proof: { provedAtMs: 1_795_000_000_000, addresses: ['127.0.0.1'], onlyFamily: 'IPv4' },
  told: { owned: { source: 'pe', epoch: 7, sequence: 3, timeMs: 1_795_000_000_000 } },
});

const stores: [string, () => DepotStore][] = [
  ['in memory', () => new MemoryDepotStore()],
  ['in a file', () => new FileDepotStore(openStateFolder(stateDir))],
];

describe.each(stores)('a registry %s', (_, create) => {
  test('is empty at first and then what was saved last, even when saves overlap', async () => {
    const store = create();
    expect(await store.load()).toEqual([]);
    const lists = [[record('d1')], [record('d1'), record('d2')], [record('d3')]];
    await Promise.all(lists.map((list) => store.save(list)));
    expect(await store.load()).toEqual([record('d3')]);
  });
});

describe('a registry file', () => {
  test('is private, and leaves nothing else behind', async () => {
    await new FileDepotStore(openStateFolder(stateDir)).save([record('d1')]);
    expect(await readdir(stateDir)).toEqual(['depots.json']);
    expect((await stat(join(stateDir, 'depots.json'))).mode & 0o777).toBe(0o600);
  });

  test('that is damaged is named, not overwritten', async () => {
    await writeFile(join(stateDir, 'depots.json'), '{"depots":[{}]}');
    await expect(new FileDepotStore(openStateFolder(stateDir)).load()).rejects.toMatchObject({
      code: 'state-damaged',
      message: expect.stringMatching(/\(stateDir\).*restore it .*\(depots\.json; .*move it away/) as string,
    });
  });
});
