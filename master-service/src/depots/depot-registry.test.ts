import { ok, type RegisterRequest } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from '../enrolment/enrolment-facts.ts';
import { MemoryEnrolmentStore } from '../enrolment/enrolment-store.ts';
import { Facts } from '../facts/facts.ts';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { DEPOT_FACTS, DEPOT_REGISTERED } from './depot-facts.ts';
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

/** The registry of one master, and what it has learned. */
function openRegistry(source: string, kept: readonly KeptDepot[]) {
  const facts = new Facts({ kinds: [...DEPOT_FACTS, ...ENROLMENT_FACTS], source });
  const registry = new DepotRegistry({
    facts,
    enrolment: new EnrolmentBook({ facts, store: new MemoryEnrolmentStore(), emit: () => {} }),
    store: { load: async () => kept, save: async () => {} },
    heartbeatSeconds: 5,
    addresses: POLICY,
  });
  /** Hears all that others hold. */
  const hear = (...others: readonly Facts[]) => {
    for (const other of others) for (const fact of other.store.facts()) facts.store.take(fact, 0);
  };
  return { facts, registry, hear };
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
