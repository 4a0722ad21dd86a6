/** The second entry of this package: what benchmarks and simulations drive without a port. */
export { NatsBus } from './bus/nats-bus.ts';
export { readMasterConfig } from './config.ts';
export { FactExchange } from './facts/fact-exchange.ts';
export { Facts } from './facts/facts.ts';
export { FactsFile } from './facts/facts-file.ts';
export { createKnowledge } from './knowledge.ts';
export { masterOf } from './measuring/client-rtts.ts';
export { CLIENT_FACTS, ClientTable } from './measuring/client-table.ts';
export { OriginProbes, PROBE_FACTS } from './measuring/origin-probes.ts';
export { ORIGIN_FACTS, OriginTable } from './measuring/origin-table.ts';
export { EndLinks } from './planning/end-links.ts';
export { LINK_FACTS, LinkTable } from './planning/link-table.ts';
export { Planner } from './planning/planner.ts';
export { readAddress } from './prefixes/address.ts';
export { loadFile } from './prefixes/load-file.ts';
export { PrefixTable } from './prefixes/prefix-table.ts';
export { writeMmdb } from './testing/write-mmdb.ts';
