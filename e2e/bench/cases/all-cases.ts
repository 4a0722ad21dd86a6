import type { BenchCase } from './bench-case.ts';
import { CHAIN_CASES } from './chain-cases.ts';
import { HANDSHAKE_CASES } from './handshake-cases.ts';
import { SINGLE_DEPOT_CASES } from './single-depot-cases.ts';
import { TLS_CASES } from './tls-case.ts';

/** In the order in which they run. */
export const ALL_CASES: readonly BenchCase[] = [
  ...TLS_CASES,
  ...HANDSHAKE_CASES,
  ...CHAIN_CASES,
  ...SINGLE_DEPOT_CASES,
];
