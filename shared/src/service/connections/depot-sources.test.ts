import { expect, test } from 'vitest';
import { DepotSources } from './depot-sources.ts';

const LIFE_MS = 1_800_000;

test('of a depot that sends from ever more addresses the newest of each family has room, beside those that it has proved', () => {
  const sources = new DepotSources();
  const proved = ['192.0.2.1', '2001:db8::1'];
  for (const address of proved) sources.note(address, 0);
  const all = Array.from({ length: 100 }, (_, at) => [`198.51.100.${at}`, `2001:db8:1::${at + 1}`]).flat();
  for (const address of [...proved, ...all]) sources.noteSent('d1', address, 0);
  const expected = [...proved, '198.51.100.99', '2001:db8:1::100'];
  expect([...proved, ...all].filter((address) => sources.has(address, LIFE_MS))).toEqual(expected);
  expect(expected.filter((address) => sources.has(address, LIFE_MS + 1))).toEqual([]);
});

test('an address that two depots send from has room as long as one of them is there', () => {
  const sources = new DepotSources();
  for (const depot of ['d1', 'd2']) sources.noteSent(depot, '192.0.2.1', 0);
  sources.noteSent('d2', '::ffff:192.0.2.2', 0);
  expect(sources.has('192.0.2.1', 0)).toBe(true);
  sources.noteSent('d1', '192.0.2.2', 0);
  expect([sources.has('192.0.2.1', 0), sources.has('192.0.2.2', 0)]).toEqual([false, true]);
});
