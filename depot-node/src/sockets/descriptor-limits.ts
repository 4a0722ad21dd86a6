import { readFileSync } from 'node:fs';

/** Two connections, a duplicate of each for the relay and for its measurements at worst, a pipe of two ends. */
export const DESCRIPTORS_PER_TRANSFER = 8;
/** Beside its own, a connection whose TLS a relay thread ends has a duplicate and a pair of local sockets. */
export const DESCRIPTORS_PER_TLS = 3;
/** Files, libraries, the listener, the event loop's own, look-ups of names. */
export const DESCRIPTORS_AT_REST = 64;
/** Of the descriptors, those kept for the master and for look-ups of names. */
const KEPT_SHARE = 0.05;
/** Of the others, those that transfers may take; connections that carry none have what these leave. */
const SHARE_OF_TRANSFERS = 0.9;

interface DescriptorUsers {
  readonly transfers: number;
  readonly connections: number;
}

/** Which connections may have TLS that relay threads end. */
export interface ThreadTls {
  readonly ofClients: boolean;
  readonly ofOrigins: boolean;
}

const NO_TLS: ThreadTls = { ofClients: false, ofOrigins: false };

/** Descriptors of a transfer at worst, and of a connection that carries none. */
export function descriptorsPer({ ofClients, ofOrigins }: ThreadTls): {
  readonly transfer: number;
  readonly idle: number;
} {
  const client = ofClients ? DESCRIPTORS_PER_TLS : 0;
  const origin = ofOrigins ? DESCRIPTORS_PER_TLS : 0;
  return { transfer: DESCRIPTORS_PER_TRANSFER + client + origin, idle: 1 + client };
}

/**
 * Transfers and connections that these many descriptors are enough for, at most what is wanted. With too few of them a
 * depot could not even connect to its master any more.
 */
export function fitDescriptors(
  { transfers, connections }: DescriptorUsers,
  descriptors: number,
  threadTls = NO_TLS,
): DescriptorUsers {
  const per = descriptorsPer(threadTls);
  const free = Math.max(0, descriptors - DESCRIPTORS_AT_REST);
  const usable = Math.floor(free * (1 - KEPT_SHARE));
  const mostTransfers = Math.floor((usable * SHARE_OF_TRANSFERS) / per.transfer);
  const fitting = Math.max(1, Math.min(transfers, mostTransfers));
  const idle = Math.max(0, Math.floor((usable - fitting * per.transfer) / per.idle));
  return { transfers: fitting, connections: Math.min(connections, fitting + idle) };
}

interface Limits extends DescriptorUsers {
  readonly perClient: number;
  readonly perNetwork: number;
  readonly perOrigin: number;
  readonly connectionsPerNetwork: number;
  readonly waitingPerNetwork: number;
}

/**
 * The same with the parts of one client, one network and one origin: where there is less for all, there is as
 * much less for each.
 */
export function fitLimits<Wanted extends Limits>(
  wanted: Wanted,
  descriptors: number,
  threadTls = NO_TLS,
): Wanted {
  const { transfers, connections } = fitDescriptors(wanted, descriptors, threadTls);
  const part = (most: number, share: number) => Math.max(1, Math.floor(most * share));
  const ofTransfers = transfers / wanted.transfers;
  const ofConnections = connections / wanted.connections;
  return {
    ...wanted,
    transfers,
    perClient: part(wanted.perClient, ofTransfers),
    perNetwork: part(wanted.perNetwork, ofTransfers),
    perOrigin: part(wanted.perOrigin, ofTransfers),
    connections,
    connectionsPerNetwork: part(wanted.connectionsPerNetwork, ofConnections),
    waitingPerNetwork: part(wanted.waitingPerNetwork, ofConnections),
  };
}

/**
 * Descriptors that this process may have: Node takes the hard limit for itself at start. Infinite where
 * nothing says so.
 */
export function readDescriptorLimit(): number {
  try {
    return parseDescriptorLimit(readFileSync('/proc/self/limits', 'utf8')) ?? Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The hard limit of open files in the text of `/proc/<pid>/limits`. */
export function parseDescriptorLimit(text: string): number | undefined {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(text)?.[1];
  if (hard === undefined) return undefined;
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}
