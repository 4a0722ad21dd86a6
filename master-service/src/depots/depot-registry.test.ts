import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, type RegisterRequest } from '@longhaul/shared';
import { generateKeyPair, openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from '../enrolment/enrolment-facts.ts';
import { MemoryEnrolmentStore } from '../enrolment/enrolment-store.ts';
import type { Fact } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { FactsFile } from '../facts/facts-file.ts';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { DEPOT_FACTS, DEPOT_HEARD, DEPOT_REGISTERED } from './depot-facts.ts';
import { DepotRegistry } from './depot-registry.ts';
import type { KeptDepot } from './depot-store.ts';

const POLICY = { ports: [], allow: [], overlayNetworks: ['127.0.0.0/8'] };
const { publicKey } = generateKeyPair();
const depot = (id: string): RegisterRequest => ({ id, publicKey, host: '127.0.0.1', port: 7000, tls: false });

test('a full registry takes no more depots, but one that was never there makes room', async () => {
  const facts = new Facts({ kinds: [...DEPOT_FACTS, ...ENROLMENT_FACTS] });
  const registry = new DepotRegistry({
    facts,
    enrolment: new EnrolmentBook({ facts, store: new MemoryEnrolmentStore(), emit: () => {} }),
    store: new MemoryDepotStore(),
    heartbeatSeconds: 5,
    addresses: POLICY,
  });
  const register = (id: string, nowMs: number) =>
    registry.register(depot(id), { timeMs: nowMs, epoch: 'one-epoch', sequence: 1 }, nowMs);
  for (let index = 0; index < 1000; index += 1) expect((await register(`x${index}`, 0)).ok).toBe(true);
  expect(await register('late', 15_000)).toMatchObject({ error: { code: 'depot-registry-full' } });
  for (const { id } of registry.views(0).slice(1)) {
    const record = registry.record(id);
    if (record) await registry.noteProof(record, ok({ addresses: ['127.0.0.1'] }), 0);
  }
  expect((await register('late', 15_001)).ok).toBe(true);
  expect(await register('later', 31_000)).toMatchObject({ ok: true });
  expect(await register('last', 32_000)).toMatchObject({ error: { code: 'depot-registry-full' } });
});

describe('a thousand depots that have proved an address and were revoked', () => {
  const beat = { activeTransfers: 0, draining: false, links: [], sizes: [] };
  let dir: string;
  let enrolments: MemoryEnrolmentStore;
  let depots: MemoryDepotStore;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'longhaul-registry-'));
    enrolments = new MemoryEnrolmentStore();
    depots = new MemoryDepotStore();
  });
  afterEach(() => rm(dir, { recursive: true }));

  /** A master with its files. */
  async function start() {
    const file = new FactsFile(openStateFolder(dir));
    const facts = new Facts({ kinds: [...DEPOT_FACTS, ...ENROLMENT_FACTS], epoch: file.epochAfter(0) });
    const enrolment = new EnrolmentBook({ facts, store: enrolments, emit: () => {} });
    const registry = new DepotRegistry({
      facts,
      enrolment,
      store: depots,
      heartbeatSeconds: 5,
      addresses: POLICY,
    });
    file.restore(facts, 0);
    enrolment.load(0);
    await registry.load(0);
    const come = async (id: string, key: string) => {
      const stamp = { timeMs: 0, epoch: 'one-epoch', sequence: 1 };
      const registered = await registry.register({ ...depot(id), publicKey: key }, stamp, 0);
      const record = registry.record(id);
      if (record) await registry.noteProof(record, ok({ addresses: ['127.0.0.1'] }), 0);
      return registered.ok ? registry.view(id, 0)?.state : registered.error.code;
    };
    return { facts, file, enrolment, registry, come };
  }

  test('leave their room to others, also after a restart, and stay away however it is told of them again', async () => {
    const one = await start();
    const keys = Array.from({ length: 1000 }, () => generateKeyPair().publicKey);
    let earlier: Fact[] = [];
    for (const [at, key] of keys.entries()) {
      expect(await one.come(`x${at}`, key)).toBe('up');
      if (at === 999) {
        earlier = [...one.facts.store.facts()];
        await one.file.save(one.facts, 0);
      }
      await one.enrolment.revokeKey(`x${at}`, key, 0);
    }
    expect(await one.come('new', publicKey)).toBe('up');
    expect(one.facts.store.held(DEPOT_HEARD).map(({ key }) => key)).toEqual(['new']);
    const two = await start();
    two.registry.hear('new', beat, { timeMs: 0, epoch: 'one-epoch', sequence: 2 }, 0);
    expect(two.registry.views(0)).toMatchObject([{ id: 'new', state: 'up' }]);
    for (const fact of earlier) two.facts.store.take({ ...fact, source: 'other' }, 0);
    expect(two.registry.views(0)).toMatchObject([{ id: 'new', state: 'up' }]);
    expect(await two.come('x999', keys[999] ?? '')).toBe('depot-key-revoked');
  });

  test('are known as before after a restart where they have come back by another key', async () => {
    const one = await start();
    const [first, second] = [generateKeyPair().publicKey, generateKeyPair().publicKey];
    expect(await one.come('pe', first)).toBe('up');
    await one.enrolment.revokeKey('pe', first, 0);
    expect(await one.come('pe', second)).toBe('up');
    await one.file.save(one.facts, 0);
    const two = await start();
    expect(two.registry.views(0)).toMatchObject([{ id: 'pe', state: 'up' }]);
    expect(two.facts.store.held(DEPOT_HEARD).map(({ key }) => key)).toEqual(['pe']);
  });

  test('leave their room to others where another master tells of all of them again', async () => {
    const one = await start();
    const keys = Array.from({ length: 1000 }, () => generateKeyPair().publicKey);
    await Promise.all(keys.map((key, at) => one.enrolment.revokeKey(`x${at}`, key, 0)));
    let sequence = 0;
    const tellOf = (id: string, key: string) => {
      sequence += 1;
      const { id: _, ...place } = { ...depot(id), publicKey: key };
      const stamp = { source: 'other', epoch: 1, sequence, timeMs: 0 };
      return one.facts.store.take({ kind: DEPOT_REGISTERED.name, key: id, ...stamp, value: place }, 0).ok;
    };
    expect(keys.every((key, at) => tellOf(`x${at}`, key))).toBe(true);
    expect(tellOf('new', publicKey)).toBe(true);
    expect(one.registry.views(0)).toMatchObject([{ id: 'new' }]);
  });
});

describe('where there is no room for what is heard of depots', () => {
  const stamp = { timeMs: 0, epoch: 'one-epoch', sequence: 1 };

  /** Other masters tell of so many that there is no room for more. */
  function fill({ facts }: ReturnType<typeof openRegistry>): void {
    const value = { process: 'p', heartbeat: 1, draining: false, upSeconds: 0, failures: 0 };
    for (let source = 0, sequence = 0; source < 60; source += 1) {
      for (let isTaken = true; isTaken; ) {
        sequence += 1;
        const told = { source: `other-${source}`, epoch: 1, sequence, timeMs: 0, value };
        isTaken = facts.store.take({ kind: DEPOT_HEARD.name, key: `x${sequence}`, ...told }, 0).ok;
      }
    }
  }

  test('a depot that registers is told so, and so is who only asks whether it could', async () => {
    const one = openRegistry('s1', []);
    fill(one);
    expect(one.registry.check(depot('d1'), 0)).toMatchObject({ error: { code: 'depot-registry-full' } });
    expect(await one.registry.register(depot('d1'), stamp, 0)).toMatchObject({
      error: { code: 'depot-registry-full' },
    });
    expect(one.facts.store.held(DEPOT_REGISTERED)).toEqual([]);
  });

  test('a depot that another master has taken in is told so when it comes to be heard', async () => {
    const [one, two] = [openRegistry('s1', []), openRegistry('s2', [])];
    await one.registry.register(depot('d1'), stamp, 0);
    two.hear(one.facts);
    fill(two);
    const beat = { activeTransfers: 0, draining: false, links: [], sizes: [] };
    expect(two.registry.hear('d1', beat, { ...stamp, sequence: 2 }, 0)).toMatchObject({
      error: { code: 'depot-registry-full' },
    });
  });

  test('there is again once those depots were gone for a month', async () => {
    const one = openRegistry('s1', []);
    fill(one);
    const monthMs = 31 * 86_400_000;
    one.facts.store.sweep(monthMs + 1);
    const later = { ...stamp, timeMs: monthMs + 1 };
    expect((await one.registry.register(depot('d1'), later, monthMs + 1)).ok).toBe(true);
    expect(one.registry.view('d1', monthMs + 1)?.state, 'heard').toBe('unproved');
  });
});

/** The registry of one master, and what it has learned. */
function openRegistry(source: string, kept: readonly KeptDepot[], epoch = 1) {
  const facts = new Facts({ kinds: [...DEPOT_FACTS, ...ENROLMENT_FACTS], source, epoch });
  let saved = kept;
  const registry = new DepotRegistry({
    facts,
    enrolment: new EnrolmentBook({ facts, store: new MemoryEnrolmentStore(), emit: () => {} }),
    store: {
      load: async () => kept,
      save: async (depots) => {
        saved = depots;
      },
    },
    heartbeatSeconds: 5,
    addresses: POLICY,
  });
  /** Hears all that others hold. */
  const hear = (...others: readonly Facts[]) => {
    for (const other of others) for (const fact of other.store.facts()) facts.store.take(fact, 0);
  };
  return { facts, registry, hear, saved: () => saved };
}

test('of sixty masters with sixty depots that were all started again each hears of a new depot', async () => {
  const proof = { provedAtMs: 0, addresses: ['127.0.0.1'] };
  const kept = Array.from({ length: 60 }, (_, index) => ({ ...depot(`d${index}`), proof }));
  const [one, two] = [openRegistry('s1', kept), openRegistry('s2', kept)];
  const others = Array.from({ length: 58 }, (_, index) => openRegistry(`other-${index}`, kept));
  const all = [one, two, ...others];
  for (const { registry } of all) await registry.load(0);
  for (const { hear } of [one, two]) hear(...all.map(({ facts }) => facts));
  const stamp = { timeMs: 0, epoch: 'one-epoch', sequence: 1 };
  expect((await one.registry.register(depot('new'), stamp, 0)).ok).toBe(true);
  two.hear(one.facts);
  expect(two.registry.record('new')).toEqual(depot('new'));
});

test('a master that starts with an older copy of its file leads nobody back to where a depot was before', async () => {
  const [one, other] = [openRegistry('one', []), openRegistry('other', [])];
  const come = async (port: number, nowMs: number) => {
    const stamp = { timeMs: nowMs, epoch: `process-${port}`, sequence: 1 };
    expect((await one.registry.register({ ...depot('d1'), port }, stamp, nowMs)).ok).toBe(true);
    const record = one.registry.record('d1');
    if (record) await one.registry.noteProof(record, ok({ addresses: ['127.0.0.1'] }), nowMs);
  };
  await come(7000, 0);
  const copy = one.saved();
  await come(7001, 10);
  other.hear(one.facts);
  const restored = openRegistry('one', copy, 2);
  await restored.registry.load(20);
  expect(restored.registry.record('d1')?.port, 'what the copy says').toBe(7000);
  other.hear(restored.facts);
  restored.hear(other.facts);
  for (const { registry } of [other, restored]) {
    expect(registry.record('d1')?.port).toBe(7001);
    expect(registry.provedAddress('d1', 20)).toBe('127.0.0.1');
  }
});

test('a master that tells of any number of depots makes no more of them known than there may be', () => {
  const { facts, registry } = openRegistry('s1', []);
  const { id: _, ...value } = depot('any');
  let taken = 0;
  for (let source = 0, sequence = 1; source < 4; source += 1) {
    for (let told = 0; told < 1_500; told += 1, sequence += 1) {
      const stamp = { source: `other-${source}`, epoch: 1, sequence, timeMs: 0 };
      const fact = { kind: DEPOT_REGISTERED.name, key: `x${sequence}`, ...stamp, value };
      if (facts.store.take(fact, 0).ok) taken += 1;
    }
  }
  expect(taken).toBe(4_000);
  expect(registry.views(0)).toHaveLength(2_000);
});

test('a depot that is reached by one family alone is known as such to all masters, also after a restart', async () => {
  const proof = { provedAtMs: 0, addresses: ['127.0.0.1'], onlyFamily: 'IPv6' } as const;
  const [one, two] = [openRegistry('s1', [{ ...depot('d1'), proof }]), openRegistry('s2', [])];
  await one.registry.load(0);
  two.hear(one.facts);
  for (const { registry } of [one, two]) expect(registry.view('d1', 0)?.onlyFamily).toBe('IPv6');
  // Clients of an entry group come by the name of that.
  const beat = { activeTransfers: 0, draining: false, links: [], sizes: [] };
  const stamp = { timeMs: 0, epoch: 'one-epoch', sequence: 1 };
  one.registry.hear('d1', { ...beat, entryGroup: 'all' }, stamp, 0);
  expect(one.registry.view('d1', 0)?.onlyFamily).toBeUndefined();
  const record = two.registry.record('d1');
  if (record) await two.registry.noteProof(record, ok({ addresses: ['127.0.0.1'] }), 1);
  expect(two.registry.view('d1', 1)?.onlyFamily).toBeUndefined();
});
