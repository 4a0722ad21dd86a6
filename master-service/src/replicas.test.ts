import { type RequestStamp, refuse } from '@longhaul/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEPOT_FACTS } from './depots/depot-facts.ts';
import { DepotRegistry } from './depots/depot-registry.ts';
import { EnrolmentBook } from './enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from './enrolment/enrolment-facts.ts';
import { MemoryEnrolmentStore } from './enrolment/enrolment-store.ts';
import type { Fact } from './facts/fact.ts';
import { Facts } from './facts/facts.ts';
import { KnownMasters, MASTER_FACTS } from './keys/known-masters.ts';
import { LINK_FACTS, LinkTable } from './planning/links/link-table.ts';
import { SIZE_FACTS, SizeMemory } from './planning/plans/size-memory.ts';
import { MemoryDepotStore } from './testing/memory-depot-store.ts';

const NOW = 1_795_000_000_000;
/** Few, so that masters often speak of the same. */
const IDS = ['d1', 'd2'];
const URLS = ['url1', 'url2'];
const kinds = [...DEPOT_FACTS, ...ENROLMENT_FACTS, ...LINK_FACTS, ...SIZE_FACTS, ...MASTER_FACTS];

/** Every replica of a master, and what they say. */
function replicas(source: string) {
  const facts = new Facts({ kinds, source });
  const addresses = { ports: [], allow: [], overlayNetworks: ['127.0.0.0/8'] };
  const registry = new DepotRegistry({
    facts,
    enrolment: new EnrolmentBook({ facts, store: new MemoryEnrolmentStore(), emit: () => {} }),
    store: new MemoryDepotStore(),
    heartbeatSeconds: 5,
    addresses,
  });
  const links = new LinkTable([], 1e6, facts);
  const sizes = new SizeMemory(facts);
  const masters = new KnownMasters(facts);
  const pairs = IDS.flatMap((one) => IDS.map((other) => [one, other] as const));
  const say = (nowMs: number) => ({
    depots: registry.views(nowMs),
    directory: registry.directory(nowMs),
    failures: registry.failuresPerSecond,
    links: pairs.map(([one, other]) => links.estimate(one, other, nowMs) ?? null),
    // Sums of the same figures in another order may differ in their last digits.
    known: pairs.map(([one, other]) => {
      const { rttMs, goodputBps, lossRate } = links.distribution(one, other, nowMs);
      return [rttMs, goodputBps, lossRate].map(({ value, spread }) => [
        value.toPrecision(9),
        spread.toPrecision(9),
      ]);
    }),
    sizes: URLS.map((url) => [sizes.recall(url), sizes.isWholeOnly(url)]),
    masters: [masters.urls(), masters.keys()],
  });
  return { facts, registry, links, sizes, masters, say };
}

type Replicas = ReturnType<typeof replicas>;

/** Something that a master learns from a depot, or does. */
const event = fc.record({
  master: fc.integer({ min: 0, max: 1 }),
  depot: fc.constantFrom(...IDS),
  other: fc.constantFrom(...IDS),
  url: fc.constantFrom(...URLS),
  passesMs: fc.integer({ min: 0, max: 20_000 }),
  what: fc.constantFrom(
    'register',
    'prove',
    'fail',
    'hear',
    'twin',
    'drain',
    'link',
    'link',
    'link',
    'ticket',
    'size',
    'announce',
  ),
  amount: fc.integer({ min: 1, max: 1000 }),
});
type Event = (typeof event extends fc.Arbitrary<infer Value> ? Value : never) & { readonly nowMs: number };

async function happen({ registry, links, sizes, masters, facts }: Replicas, happens: Event): Promise<void> {
  const { depot: id, other, url, what, amount, nowMs } = happens;
  const stamp: RequestStamp = { timeMs: nowMs, epoch: 'process-1', sequence: nowMs - NOW + amount };
  const beat = { activeTransfers: 0, draining: what === 'drain', links: [], sizes: [] };
  const record = registry.record(id);
  const place = { id, publicKey: `key-of-${id}`, host: '127.0.0.1', port: 7000 + (amount % 2), tls: false };
  if (what === 'register') await registry.register(place, stamp, nowMs);
  else if (what === 'prove' && record)
    await registry.noteProof(record, { ok: true, value: { addresses: ['127.0.0.1'] } }, nowMs);
  else if (what === 'fail' && record)
    await registry.noteProof(record, refuse('depot-unreachable', 'somewhere'), nowMs);
  else if (what === 'hear' || what === 'drain') registry.hear(id, beat, stamp, nowMs);
  else if (what === 'twin') registry.hear(id, beat, { ...stamp, epoch: 'process-2' }, nowMs);
  else if (what === 'link') {
    const loss = amount % 2 ? { lossRate: amount / 1e4 } : { goodputBps: amount * 1e6 };
    if (id !== other) links.report(id, { to: other, rttMs: amount, ...loss }, nowMs);
  } else if (what === 'ticket') sizes.noteTicket(url, [[id]], nowMs);
  else if (what === 'size') sizes.report(id, [{ urlHash: url, sizeBytes: amount }], nowMs);
  else if (what === 'announce') masters.announce(`https://${facts.source}.example`, [], nowMs);
}

test('facts in any order, any number of times, lead every master to the same view', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 10, maxLength: 60 }),
      fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
      async (events, order) => {
        const learned: Fact[] = [];
        const sources = ['one', 'two'].map((source) => replicas(source));
        for (const { facts } of sources) facts.tellOthers((fact) => learned.push(fact));
        let nowMs = NOW;
        for (const happens of events) {
          nowMs += happens.passesMs;
          const master = sources[happens.master];
          if (master) await happen(master, { ...happens, nowMs });
        }
        const inOrder = replicas('watcher');
        for (const fact of learned) inOrder.facts.store.take(fact, nowMs);
        const anyhow = replicas('watcher');
        // Many at random, some of them often; then those that were never drawn.
        for (const draw of order) {
          const fact = learned[draw % Math.max(1, learned.length)];
          if (fact) anyhow.facts.store.take(fact, nowMs);
        }
        for (const fact of learned.toReversed()) anyhow.facts.store.take(fact, nowMs);
        expect(anyhow.say(nowMs)).toEqual(inOrder.say(nowMs));
        expect(anyhow.say(nowMs + 10_000)).toEqual(inOrder.say(nowMs + 10_000));
      },
    ),
    { numRuns: 200 },
  );
});
