import {
  type AddressFamily,
  type Directory,
  decodeTicket,
  type GetOptions,
  ok,
  type PlanAnswer,
  parseRelayTarget,
} from '@longhaul/shared';
import { DepotSources, generateKeyPair } from '@longhaul/shared/service';
import { AddressProver } from '../depots/address-prover.ts';
import { DepotService } from '../depots/depot-service.ts';
import { createDownloads } from '../downloads.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { generateSigningKey } from '../keys/signing-key.ts';
import { createKnowledge } from '../knowledge.ts';
import { IdleLinks } from '../measuring/idle-links.ts';
import { OverlayPlaces } from '../policy/overlay-places.ts';
import { MeasuredPrefixes } from '../prefixes/measured-prefixes.ts';
import { PrefixFiles } from '../prefixes/prefix-files.ts';
import { WhereaboutsLookUp } from '../prefixes/whereabouts.ts';
import { EntryGroups } from '../tickets/entry-groups.ts';
import { MemoryDepotStore } from './memory-depot-store.ts';
import { testConfig } from './start-master.ts';

const NOW = 1_795_000_000_000;

interface BehindSocketsInit {
  /** Round trips between depots, by `<one> <other>`. */
  readonly links: Readonly<Record<string, number>>;
  /** What the links carry that are no usual ones, in bits per second. */
  readonly ratesBps?: Readonly<Record<string, number>>;
  readonly onlyFamilies?: Readonly<Record<string, AddressFamily>>;
}

/**
 * A master behind its sockets: depots and clients are heard as they would be over them, from any address. Its
 * clock stands still.
 */
export async function startBehindSockets({ links, ratesBps = {}, onlyFamilies = {} }: BehindSocketsInit) {
  const config = testConfig({ links: [], planner: { allowVia: true } });
  const emit = () => {};
  const now = () => NOW;
  const knowledge = createKnowledge({
    config,
    depotStore: new MemoryDepotStore(),
    enrolmentStore: undefined,
    emit,
    source: 'here',
    epoch: 1,
    startedAtMs: NOW,
  });
  const keys = new KeyRing({
    first: generateSigningKey(),
    state: undefined,
    renewMs: Number.MAX_SAFE_INTEGER,
    onWaiting: () => {},
    aheadMs: 0,
    lifeMs: 0,
    canTell: () => false,
    now,
    steadyMs: now,
    onPublished: emit,
    onFailure: emit,
  });
  const downloads = createDownloads({
    config,
    knowledge,
    keys,
    overlay: new OverlayPlaces(() => [], now),
    groups: new EntryGroups([]),
    whereabouts: new WhereaboutsLookUp({
      files: new PrefixFiles({}, emit),
      measured: new MeasuredPrefixes(knowledge.facts),
      site: () => undefined,
    }),
    ask: async ({ host }) => ok({ addresses: [host] }),
    authorities: [],
    publicUrl: () => 'http://master.example',
    now,
    steadyMs: now,
    random: undefined,
    emit,
  });
  const service = new DepotService({
    ...knowledge,
    ...downloads,
    prover: new AddressProver({
      registry: knowledge.registry,
      ask: async ({ id, host }) => ok({ addresses: [host], onlyFamily: onlyFamilies[id] }),
      sources: new DepotSources(),
      now,
      emit,
    }),
    assumedSizeBytes: config.planner.assumedSizeBytes,
    idleLinks: new IdleLinks({ links: knowledge.links }),
    groups: new EntryGroups([]),
    emit,
  });
  let sequence = 0;
  const stamp = () => ({ timeMs: NOW, epoch: 'epoch-000001', sequence: (sequence += 1) });
  const hear = (id: string, told: object = {}): Directory => {
    const none = { activeTransfers: 0, draining: false, links: [], sizes: [] };
    const heard = service.hear(id, { ...none, ...told }, stamp(), NOW);
    if (!heard.ok) throw heard.error;
    return heard.value;
  };
  const ids = new Set(Object.keys(links).flatMap((pair) => pair.split(' ')));
  for (const [index, id] of [...ids].entries()) {
    const { publicKey } = generateKeyPair();
    const place = { host: '127.0.0.1', port: 7001 + index, tls: false };
    await service.register({ id, publicKey, ...place }, stamp(), NOW);
  }
  for (const [pair, rttMs] of Object.entries(links)) {
    const [one = '', other = ''] = pair.split(' ');
    const goodputBps = ratesBps[pair] ?? 5e8;
    const seen = { rttMs, goodputBps, sentBytes: 2e7, retransmittedBytes: 2000 };
    hear(one, { links: [{ to: other, ...seen }] });
    hear(other, { links: [{ to: one, ...seen }] });
  }
  const plan = (clientAddress: string, options: GetOptions = {}, path = '/f'): PlanAnswer => {
    const url = { scheme: 'https', host: 'origin.example', port: 443, path, query: null } as const;
    const planned = downloads.plans.explain({ url, options, kind: 'get', clientAddress }, NOW);
    if (!planned.ok) throw planned.error;
    return planned.value;
  };
  /** A depot asks for a ticket for where the origin of a plan redirects to, or for other chains. */
  const followUp = (id: string, { location }: PlanAnswer, url: string, avoid?: string[]) => {
    const { pathname, search } = new URL(location);
    const relay = parseRelayTarget(pathname + search);
    if (!relay.ok) throw relay.error;
    const { ticket } = relay.value;
    const followed = service.followUp(id, { ticket, url, ...(avoid ? { avoid } : {}) }, NOW);
    if (!followed.ok) throw followed.error;
    const decoded = decodeTicket(followed.value.ticket);
    if (!decoded.ok) throw decoded.error;
    return decoded.value.claims.chains;
  };
  return { hear, plan, followUp, leads: knowledge.leads, close: downloads.close };
}
