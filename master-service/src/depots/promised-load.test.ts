import { expect, test } from 'vitest';
import { PromisedLoad } from './promised-load.ts';

const HEARD_MS = 1_795_000_000_000;
const promised = (client: string, seconds: number, bps = 8e6) => ({ client, seconds, bps });

test('what plans lead over a depot counts until it is heard again, which tells of it', () => {
  const load = new PromisedLoad();
  for (const client of ['a', 'b', 'c']) load.note(promised(client, 60), HEARD_MS + 1);
  expect(load.since(HEARD_MS, HEARD_MS + 1)).toEqual({ downloads: 3, bps: 24e6 });
  load.note(promised('d', 60), HEARD_MS + 2);
  expect(load.since(HEARD_MS, HEARD_MS + 2)).toEqual({ downloads: 4, bps: 32e6 });
  expect(load.since(HEARD_MS + 5000, HEARD_MS + 5000)).toEqual({ downloads: 0, bps: 0 });
});

test('a download that takes a tenth of a second is no load for five', () => {
  const load = new PromisedLoad();
  for (let ms = 1; ms <= 1000; ms += 1) load.note(promised(`mouse-${ms}`, 0.1), HEARD_MS + ms);
  expect(load.since(HEARD_MS, HEARD_MS + 1000).downloads).toBeLessThanOrEqual(200);
  expect(load.since(HEARD_MS, HEARD_MS + 1200)).toEqual({ downloads: 0, bps: 0 });
});

test('one client has one line: what it asks for at once comes over that one after the other', () => {
  const load = new PromisedLoad();
  for (let file = 0; file < 20; file += 1) load.note(promised('a', 0.1), HEARD_MS + 1);
  expect(load.since(HEARD_MS, HEARD_MS + 1)).toEqual({ downloads: 1, bps: 8e6 });
  expect(load.since(HEARD_MS, HEARD_MS + 1900).downloads).toBe(1);
  expect(load.since(HEARD_MS, HEARD_MS + 2100).downloads).toBe(0);
});

test('any number of clients takes no more memory than a thousand', () => {
  const load = new PromisedLoad();
  for (let client = 0; client < 5000; client += 1) load.note(promised(`${client}`, 60), HEARD_MS + 1);
  expect(load.since(HEARD_MS, HEARD_MS + 1).downloads).toBe(1000);
});

test('a clock that is set back keeps nothing that was promised before', () => {
  const load = new PromisedLoad();
  load.note(promised('a', 60), HEARD_MS + 3_600_000);
  expect(load.since(HEARD_MS, HEARD_MS)).toEqual({ downloads: 0, bps: 0 });
});
