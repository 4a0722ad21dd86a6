import { LonghaulError, ok, type Result } from '@longhaul/shared';
import { DepotSources, generateKeyPair } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from '../enrolment/enrolment-facts.ts';
import { MemoryEnrolmentStore } from '../enrolment/enrolment-store.ts';
import type { MasterEvent } from '../events.ts';
import { Facts } from '../facts/facts.ts';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import type { ProvedPlace } from './address-proof.ts';
import { AddressProver } from './address-prover.ts';
import { DEPOT_FACTS } from './depot-facts.ts';
import { DepotRegistry } from './depot-registry.ts';

const FIVE_MINUTES_MS = 300_000;
const { publicKey } = generateKeyPair();
const place = (id: string) => ({ id, publicKey, host: '127.0.0.1', port: 7000, tls: false });

/** A prover whose askers wait for ever, but for the depots named as honest, which answer at once. */
async function setUp(honest: readonly string[]) {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const events: MasterEvent[] = [];
  /** How asking fails now, whoever is asked. */
  const failing: { outcome?: Result<ProvedPlace> } = {};
  const facts = new Facts({ kinds: [...DEPOT_FACTS, ...ENROLMENT_FACTS] });
  const registry = new DepotRegistry({
    facts,
    enrolment: new EnrolmentBook({ facts, store: new MemoryEnrolmentStore(), emit: () => {} }),
    store: new MemoryDepotStore(),
    heartbeatSeconds: 5,
    addresses: { ports: [], allow: [], overlayNetworks: ['127.0.0.0/8'] },
  });
  const prover = new AddressProver({
    registry,
    ask: ({ id }) => {
      asked.push(id);
      if (failing.outcome) return Promise.resolve(failing.outcome);
      return honest.includes(id) ? Promise.resolve(ok({ addresses: ['127.0.0.1'] })) : new Promise(() => {});
    },
    sources: new DepotSources(),
    now: () => clock.ms,
    emit: (event: MasterEvent) => void events.push(event),
  });
  const join = async (id: string) => {
    const stamp = { timeMs: clock.ms, epoch: `epoch-of-${id}`, sequence: 1 };
    expect((await registry.register(place(id), stamp, clock.ms)).ok).toBe(true);
    return prover.prove(id);
  };
  return { clock, asked, events, failing, registry, prover, join };
}

test('trials that nobody answers keep no depot from proving its address', async () => {
  const { prover, registry, join } = await setUp(['honest']);
  let refused = 0;
  for (let index = 0; index < 20; index += 1)
    void prover.tryOut(place(`trial${index}`)).then((outcome) => {
      if (!outcome.ok) refused += 1;
    });
  await join('honest');
  expect(registry.view('honest', 0)?.state).not.toBe('unproved');
  expect(refused).toBe(16);
});

test('newcomers that do not answer keep no member from renewing its proof', async () => {
  const { clock, asked, prover, join } = await setUp(['member']);
  await join('member');
  for (let index = 0; index < 100; index += 1) void join(`newcomer${index}`);
  clock.ms = FIVE_MINUTES_MS;
  await prover.prove('member');
  expect(asked.filter((id) => id === 'member')).toHaveLength(2);
});

test('a depot that its master could not ask for want of descriptors has not failed, and is asked with its next heartbeat', async () => {
  const { asked, events, failing, registry, prover, join } = await setUp(['newcomer']);
  const cause = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
  failing.outcome = { ok: false, error: new LonghaulError('depot-unreachable', { cause }) };
  await join('newcomer');
  expect(registry.view('newcomer', 0)?.problem).toBeUndefined();
  expect(events).toMatchObject([{ type: 'depot-not-asked', depot: 'newcomer', code: 'descriptors-out' }]);
  delete failing.outcome;
  await prover.prove('newcomer');
  expect(asked).toHaveLength(2);
  expect(registry.view('newcomer', 0)?.state).toBe('up');
});
