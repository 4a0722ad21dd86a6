/** The second entry of this package: what benchmarks and simulations drive without a port. */
export { readMasterConfig } from './config.ts';
export { masterOf } from './measuring/client-rtts.ts';
export { ClientTable } from './measuring/client-table.ts';
export { OriginProbes } from './measuring/origin-probes.ts';
export { OriginTable } from './measuring/origin-table.ts';
export { EndLinks } from './planning/end-links.ts';
export { LinkTable } from './planning/link-table.ts';
export { Planner } from './planning/planner.ts';
export { readAddress } from './prefixes/address.ts';
export { loadFile } from './prefixes/load-file.ts';
export { PrefixTable } from './prefixes/prefix-table.ts';
export { writeMmdb } from './testing/write-mmdb.ts';
