import type { MasterConfig } from './config.ts';
import { DEPOT_FACTS } from './depots/depot-facts.ts';
import { DepotRegistry } from './depots/depot-registry.ts';
import type { DepotStore } from './depots/depot-store.ts';
import { EnrolmentBook } from './enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from './enrolment/enrolment-facts.ts';
import { type EnrolmentStore, MemoryEnrolmentStore } from './enrolment/enrolment-store.ts';
import type { EmitEvent } from './events.ts';
import { Facts } from './facts/facts.ts';
import { FEEDBACK_FACTS, FeedbackBook } from './feedback/feedback-book.ts';
import { KnownMasters, MASTER_FACTS } from './keys/known-masters.ts';
import { ALIAS_FACTS, ClientAliases } from './measuring/client-aliases.ts';
import { CLIENT_FACTS, ClientTable } from './measuring/client-table.ts';
import { PROBE_FACTS } from './measuring/origin-probes.ts';
import { ORIGIN_FACTS, OriginTable } from './measuring/origin-table.ts';
import { CALIBRATION_FACTS, Calibrations } from './outcomes/calibrations.ts';
import { LED_FACTS, LedHosts } from './outcomes/led-hosts.ts';
import { JOB_FACTS } from './outcomes/outcome-book.ts';
import { WAY_FACTS, WayBook } from './outcomes/way-book.ts';
import { EndLinks } from './planning/links/end-links.ts';
import { LINK_FACTS, LinkTable } from './planning/links/link-table.ts';
import { UNREACHED_ORIGIN_FACTS, UnreachedOrigins } from './planning/links/unreached-origins.ts';
import { SIZE_FACTS, SizeMemory } from './planning/plans/size-memory.ts';
import { RateCaps, SPENT_FACTS } from './policy/rate-caps.ts';
import { MeasuredPrefixes, PREFIX_FACTS } from './prefixes/measured-prefixes.ts';

/** Everything that is learned here, by the rooms that know what it means. */
const FACT_KINDS = [
  // Told in this order to those who ask: whose key counts goes ahead of what is said of it.
  ...ENROLMENT_FACTS,
  ...DEPOT_FACTS,
  ...LINK_FACTS,
  ...CLIENT_FACTS,
  ...ALIAS_FACTS,
  ...ORIGIN_FACTS,
  ...UNREACHED_ORIGIN_FACTS,
  ...PROBE_FACTS,
  ...SIZE_FACTS,
  ...SPENT_FACTS,
  ...MASTER_FACTS,
  ...PREFIX_FACTS,
  ...JOB_FACTS,
  ...CALIBRATION_FACTS,
  ...WAY_FACTS,
  ...LED_FACTS,
  ...FEEDBACK_FACTS,
];

interface KnowledgeInit {
  readonly config: MasterConfig;
  readonly depotStore: DepotStore;
  /** Left out, join tokens and keys do not outlive the process. */
  readonly enrolmentStore: EnrolmentStore | undefined;
  readonly emit: EmitEvent;
  /** Whose facts are this master's own, and since when. */
  readonly source: string;
  readonly epoch: number;
  readonly startedAtMs: number;
}

export type Knowledge = ReturnType<typeof createKnowledge>;

/** What a master knows: the facts, and the replicas that they feed. */
export function createKnowledge(init: KnowledgeInit) {
  const { config, depotStore, source, epoch, startedAtMs, emit } = init;
  const facts = new Facts({ kinds: FACT_KINDS, source, epoch, startedAtMs });
  const { windowBytes } = config.planner.assumptions;
  const enrolment = new EnrolmentBook({
    facts,
    store: init.enrolmentStore ?? new MemoryEnrolmentStore(),
    emit,
  });
  const links = new LinkTable(config.links, windowBytes, facts);
  const aliases = new ClientAliases(facts);
  const clients = new ClientTable(facts, (depot) => links.mostSentBps(depot), aliases);
  const origins = new OriginTable(facts);
  return {
    facts,
    masters: new KnownMasters(facts),
    enrolment,
    registry: new DepotRegistry({
      facts,
      enrolment,
      store: depotStore,
      heartbeatSeconds: config.depots.heartbeatSeconds,
      addresses: config.addresses,
      onClaimed: (_depot, from) =>
        emit({ type: 'facts-refused', code: 'depot-key-mismatch', from, facts: 1 }),
    }),
    links,
    clients,
    aliases,
    origins,
    unreachedOrigins: new UnreachedOrigins(facts, origins),
    ends: new EndLinks({ links, clients, origins, windowBytes }),
    sizes: new SizeMemory(facts),
    calibrations: new Calibrations(facts),
    ways: new WayBook(facts, (one, other) => links.areAtOneSite(one, other)),
    leads: new LedHosts((host) => origins.known(host).keys(), facts),
    caps: config.public ? new RateCaps(config.public, facts) : undefined,
    measured: new MeasuredPrefixes(facts),
    wishes: new FeedbackBook(facts),
  };
}
