import { expect, it } from 'vitest';
import { memoryArea } from '../testing/memory-area.ts';
import { parseMasterAddress } from './parse-master-address.ts';
import { readSettings } from './settings.ts';
import { SettingsStore } from './settings-store.ts';

it('is on, without a master and with a smallest size of 2 MB, until the user decides', () => {
  const first = { enabled: true, master: '', smallestBytes: 2_000_000, privateHosts: [], sitesOff: [] };
  expect(readSettings(undefined)).toEqual(first);
  expect(
    readSettings({ enabled: 'no', master: 7, smallestBytes: -1, privateHosts: 'x', sitesOff: [1] }),
  ).toEqual(first);
});

it('keeps the other settings when one changes', async () => {
  const store = new SettingsStore(memoryArea());
  await store.change({ master: 'https://Master.Example:443/', smallestBytes: 5 });
  await store.setSiteOff('b.example', true);
  await store.setSiteOff('a.example', true);
  await store.setSiteOff('b.example', false);
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
