import { expect, it } from 'vitest';
import { fullArea, memoryArea } from '../testing/memory-area.ts';
import { parseMasterAddress } from './parse-master-address.ts';
import { readStored, type Settings } from './settings.ts';
import { SettingsStore } from './settings-store.ts';

const FIRST: Settings = {
  enabled: true,
  master: '',
  smallestBytes: 2_000_000,
  privateHosts: [],
  sitesOff: [],
  sitesAlways: [],
  sitesTunnel: [],
  kinds: { mode: 'all', kinds: [] },
  bypassKey: 'alt',
  noWastedByte: false,
  tellsMaster: false,
};

it('is on, without a master and with a smallest size of 2 MB, until the user decides', () => {
  expect(readStored(undefined)).toEqual({ settings: FIRST, problem: undefined });
});

it.each([
  'nonsense',
  7,
  null,
  [],
  { enabled: 'no', master: 7, smallestBytes: -1, privateHosts: 'x', sitesOff: [1], kinds: { mode: 'x' } },
  { version: 'x' },
])('takes its defaults for what is no settings, and says so: %j', (stored) => {
  expect(readStored(stored)).toEqual({ settings: FIRST, problem: 'damaged' });
});

it('keeps what is good of a list, and says that something in it was not', () => {
  expect(readStored({ version: 2, sitesOff: ['a.example', 'x y', 7] })).toMatchObject({
    settings: { sitesOff: ['a.example'] },
    problem: 'damaged',
  });
});

it('takes over what the first version stored, and writes it in its own form with the next change', async () => {
  const stored: Record<string, unknown> = {
    settings: {
      enabled: false,
      master: 'https://m.example',
      smallestBytes: 5,
      privateHosts: ['nas'],
      sitesOff: ['b.example'],
    },
  };
  const store = new SettingsStore(memoryArea(stored));
  const old = { ...FIRST, enabled: false, master: 'https://m.example', smallestBytes: 5 };
  const settings = { ...old, privateHosts: ['nas'], sitesOff: ['b.example'] };
  expect(await store.read()).toEqual({ settings, problem: undefined });
  await store.change({ enabled: true });
  expect(stored.settings).toEqual({ ...settings, enabled: true, version: 2 });
});

it('uses what it knows of a newer version, and loses nothing of the rest', async () => {
  const stored: Record<string, unknown> = { settings: { version: 9, smallestBytes: 5, lanes: 'many' } };
  const store = new SettingsStore(memoryArea(stored));
  expect(await store.read()).toMatchObject({ settings: { smallestBytes: 5 }, problem: 'newer' });
  await store.change({ enabled: false });
  expect(stored.settings).toMatchObject({ version: 9, enabled: false, smallestBytes: 5, lanes: 'many' });
});

it('keeps what was damaged beside what is written over it', async () => {
  const stored: Record<string, unknown> = { settings: 'half a sett' };
  const store = new SettingsStore(memoryArea(stored));
  await store.change({ enabled: false });
  expect(stored.settingsDamaged).toBe('half a sett');
  expect(await store.read()).toEqual({ settings: { ...FIRST, enabled: false }, problem: undefined });
});

it('says so when the browser has no room, and changes nothing', async () => {
  const area = fullArea({ settings: { version: 2, smallestBytes: 5 } });
  const told: Settings[] = [];
  const store = new SettingsStore(area, (settings) => told.push(settings));
  await expect(store.change({ smallestBytes: 6 })).rejects.toThrow(/no room.*nothing was changed/);
  expect(await store.get()).toMatchObject({ smallestBytes: 5 });
  expect(told).toEqual([]);
});

it('keeps a setting for which it is given no value that there is', async () => {
  const store = new SettingsStore(memoryArea());
  await store.change({ smallestBytes: 7, sitesOff: ['a.example'] });
  await store.change({ smallestBytes: Number.NaN, bypassKey: 'x' as 'alt', enabled: false });
  expect(await store.get()).toMatchObject({
    smallestBytes: 7,
    bypassKey: 'alt',
    enabled: false,
    sitesOff: ['a.example'],
  });
});

it('makes changes that are asked for at once one after the other', async () => {
  const store = new SettingsStore(memoryArea());
  await Promise.all([
    store.setSite('a.example', 'never'),
    store.setSite('b.example', 'always'),
    store.change({ enabled: false }),
    store.setSite('c.example', 'never'),
    store.setSite('a.example', 'always'),
  ]);
  expect(await store.get()).toMatchObject({
    enabled: false,
    sitesOff: ['c.example'],
    sitesAlways: ['a.example', 'b.example'],
  });
});

it('keeps the other settings when one changes', async () => {
  const store = new SettingsStore(memoryArea());
  await store.change({ master: 'https://Master.Example:443/', smallestBytes: 5 });
  await store.setSite('b.example', 'never');
  await store.setSite('a.example', 'never');
  await store.setSite('b.example', undefined);
  expect(await store.get()).toMatchObject({
    master: 'https://master.example',
    smallestBytes: 5,
    sitesOff: ['a.example'],
  });
});

it.each([
  '',
  'ftp://master.example',
  'master.example/page',
  'https://u:p@master.example',
  'https://master.example/x?y',
])('does not take "%s" for the address of a master', (text) => {
  expect(parseMasterAddress(text)).toBeUndefined();
});

it.each([
  ['get.example', 'https://get.example'],
  [' get.example:8443/ ', 'https://get.example:8443'],
  ['http://get.example', 'http://get.example'],
  ['localhost:8471', 'http://localhost:8471'],
  ['127.0.0.1:8471', 'http://127.0.0.1:8471'],
])('takes "%s" as people type it for %s', (text, address) => {
  expect(parseMasterAddress(text)).toBe(address);
});
