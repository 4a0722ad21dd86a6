import { directorySchema, type Standing } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { type DepotAnswer, TestDepot } from '../testing/test-depot.ts';

let store: MemoryDepotStore;
let master: TestMaster;
let first: TestDepot;
let second: TestDepot;

beforeEach(async () => {
  store = new MemoryDepotStore();
  master = await startMaster({ depotStore: store });
  first = new TestDepot('d1');
  second = first.nextProcess();
  await first.register(master);
  await first.heartbeat(master);
});
afterEach(() => master.master.close());

const standingOf = ({ text }: DepotAnswer): Standing => directorySchema.parse(JSON.parse(text)).self;

async function status(): Promise<unknown> {
  return ((await (await fetch(`${master.url}/v1/status`)).json()) as { depots: unknown[] }).depots[0];
}

const noticed = () => master.events.filter(({ type }) => type === 'depot-twice').length;

describe('two processes with one id and one key', () => {
  test('are both told, and so is whoever looks at the master', async () => {
    await second.register(master, { port: 7002 });
    for (let beat = 0; beat < 2; beat += 1) {
      master.clock.advance(5);
      expect(await first.heartbeat(master)).toMatchObject({ status: 409, code: 'depot-twice' });
    }
    expect(standingOf(await second.heartbeat(master))).toMatchObject({
      state: 'up',
      problem: { code: 'depot-twice' },
    });
    expect(await status()).toEqual({
      id: 'd1',
      state: 'up',
      heardAgoMs: expect.any(Number),
      problem: 'depot-twice',
    });
    expect(noticed()).toBe(1);
  });

  test('are noticed by a master that was started again', async () => {
    await second.register(master);
    await master.master.close();
    master = await startMaster({ depotStore: store });
    await second.heartbeat(master);
    for (let beat = 0; beat < 2; beat += 1) {
      expect(await first.heartbeat(master)).toMatchObject({ code: 'depot-twice' });
    }
    expect(standingOf(await second.heartbeat(master)).problem?.code).toBe('depot-twice');
  });

  test('do not push each other out: the one that registered last is the one that counts', async () => {
    await second.register(master, { port: 7002 });
    await first.heartbeat(master, { draining: false, sizes: [] });
    const { depots } = directorySchema.parse(JSON.parse((await second.heartbeat(master)).text));
    expect(depots).toMatchObject([{ id: 'd1', port: 7002, state: 'up' }]);
  });

  test('are one again when one of them has ended', async () => {
    await second.register(master, { port: 7002 });
    for (let beat = 0; beat < 2; beat += 1) await first.heartbeat(master);
    master.clock.advance(14);
    await second.heartbeat(master);
    master.clock.advance(2);
    expect(standingOf(await second.heartbeat(master))).toEqual({ state: 'up' });
    expect(await status()).toEqual({ id: 'd1', state: 'up', heardAgoMs: expect.any(Number) });
  });

  test('are one again when the one that counts takes its leave', async () => {
    await second.register(master, { port: 7002 });
    await first.heartbeat(master);
    await second.heartbeat(master, { draining: true });
    expect(await first.heartbeat(master)).toMatchObject({ status: 404, code: 'depot-unknown' });
    expect(standingOf(await first.register(master))).toEqual({ state: 'up' });
  });

  test('are one again when the other one has: that which is left registers anew', async () => {
    await second.register(master, { port: 7002 });
    await first.heartbeat(master);
    master.clock.advance(16);
    expect(await first.heartbeat(master)).toMatchObject({ status: 404, code: 'depot-unknown' });
    expect(standingOf(await first.register(master))).toEqual({ state: 'up' });
    expect(standingOf(await first.heartbeat(master))).toEqual({ state: 'up' });
  });
});

describe('a depot that was started again', () => {
  test('is no second one', async () => {
    await second.register(master);
    expect(standingOf(await second.heartbeat(master))).toEqual({ state: 'up' });
    expect(await status()).toEqual({ id: 'd1', state: 'up', heardAgoMs: expect.any(Number) });
    expect(noticed()).toBe(0);
  });

  test('while the old process still drains is no second one, and the old one gets what it needs', async () => {
    await second.register(master);
    for (let beat = 0; beat < 3; beat += 1) {
      const answer = await first.heartbeat(master, { draining: true });
      expect(directorySchema.parse(JSON.parse(answer.text)).depots).toMatchObject([{ state: 'up' }]);
    }
    expect(standingOf(await second.heartbeat(master))).toEqual({ state: 'up' });
    expect(noticed()).toBe(0);
  });

  test('is not suspected for a last heartbeat of the old process that arrived late', async () => {
    await second.register(master);
    await first.heartbeat(master);
    expect(standingOf(await second.heartbeat(master))).toEqual({ state: 'up' });
  });
});
