import { ok, type RegisterRequest } from '@longhaul/shared';
import { generateKeyPair } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from '../enrolment/enrolment-facts.ts';
import { MemoryEnrolmentStore } from '../enrolment/enrolment-store.ts';
import { Facts } from '../facts/facts.ts';
import { DEPOT_FACTS } from './depot-facts.ts';
import { DepotRegistry } from './depot-registry.ts';
import { MemoryDepotStore } from './depot-store.ts';

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
    if (record) await registry.noteProof(record, ok(['127.0.0.1']), 0);
  }
  expect((await register('late', 15_001)).ok).toBe(true);
  expect(await register('later', 31_000)).toMatchObject({ ok: true });
  expect(await register('last', 32_000)).toMatchObject({ error: { code: 'depot-registry-full' } });
});
