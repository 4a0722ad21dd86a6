import type { MasterConfig } from './config.ts';
import { DEPOT_FACTS } from './depots/depot-facts.ts';
import { DepotRegistry } from './depots/depot-registry.ts';
import type { DepotStore } from './depots/depot-store.ts';
import { Facts } from './facts/facts.ts';
import { FEEDBACK_FACTS, FeedbackBook } from './feedback/feedback-book.ts';
import { KnownMasters, MASTER_FACTS } from './keys/known-masters.ts';
import { CLIENT_FACTS, ClientTable } from './measuring/client-table.ts';
import { PROBE_FACTS } from './measuring/origin-probes.ts';
import { ORIGIN_FACTS, OriginTable } from './measuring/origin-table.ts';
import { JOB_FACTS } from './outcomes/outcome-book.ts';
import { EndLinks } from './planning/end-links.ts';
import { LINK_FACTS, LinkTable } from './planning/link-table.ts';
import { SIZE_FACTS, SizeMemory } from './planning/size-memory.ts';
import { RateCaps, SPENT_FACTS } from './policy/rate-caps.ts';
import { MeasuredPrefixes, PREFIX_FACTS } from './prefixes/measured-prefixes.ts';

/** Everything that is learned here, by the rooms that know what it means. */
const FACT_KINDS = [
  ...DEPOT_FACTS,
  ...LINK_FACTS,
  ...CLIENT_FACTS,
  ...ORIGIN_FACTS,
  ...PROBE_FACTS,
  ...SIZE_FACTS,
  ...SPENT_FACTS,
  ...MASTER_FACTS,
  ...PREFIX_FACTS,
  ...JOB_FACTS,
  ...FEEDBACK_FACTS,
];

interface KnowledgeInit {
  readonly config: MasterConfig;
  readonly depotStore: DepotStore;
  /** Whose facts are this master's own, and since when. */
  readonly source: string;
  readonly epoch: number;
  readonly startedAtMs: number;
}

export type Knowledge = ReturnType<typeof createKnowledge>;

/** What a master knows: the facts, and the replicas that they feed. */
export function createKnowledge({ config, depotStore, source, epoch, startedAtMs }: KnowledgeInit) {
  const facts = new Facts({ kinds: FACT_KINDS, source, epoch, startedAtMs });
  const { windowBytes } = config.planner.assumptions;
  const links = new LinkTable(config.links, windowBytes, facts);
  const clients = new ClientTable(facts);
  const origins = new OriginTable(facts);
  return {
    facts,
    masters: new KnownMasters(facts),
    registry: new DepotRegistry({
      facts,
      store: depotStore,
      heartbeatSeconds: config.depots.heartbeatSeconds,
      addresses: config.addresses,
    }),
    links,
    clients,
    origins,
    ends: new EndLinks({ links, clients, origins, windowBytes }),
    sizes: new SizeMemory(facts),
    caps: config.public ? new RateCaps(config.public, facts) : undefined,
    measured: new MeasuredPrefixes(facts),
    wishes: new FeedbackBook(facts),
  };
}
