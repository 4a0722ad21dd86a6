import type { ErrorCode } from '@longhaul/shared';

/** Failures of the chain rather than of the origin: another chain may do better. */
export const CHAIN_FAILURES: ReadonlySet<ErrorCode> = new Set([
  'next-depot-unknown',
  'next-depot-unreachable',
  'next-depot-timeout',
  'next-depot-tls-failed',
  'depot-address-not-allowed',
  'depot-full',
  'origin-crowded',
  'origin-rate-limited',
  'shutting-down',
  'caller-not-proved',
  'ticket-key-unknown',
]);
