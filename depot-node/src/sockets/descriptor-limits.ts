import { readFileSync } from 'node:fs';

/** Two connections, a duplicate of each for the relay and for its measurements at worst, a pipe of two ends. */
const DESCRIPTORS_PER_TRANSFER = 8;
/** Beside its own, a connection whose TLS a relay thread ends has a duplicate and a pair of local sockets. */
const DESCRIPTORS_PER_TLS = 3;
/** Beside the first connection of a download, a lane has one of its own, with a duplicate for the relay. */
const DESCRIPTORS_PER_LANE = 2;
/** Files, libraries, the listener, the event loop's own, look-ups of names. */
const DESCRIPTORS_AT_REST = 64;
/** Of the descriptors, those kept for the master, for tests of links, and for connections ready to neighbours. */
const KEPT_SHARE = 0.05;
/** As many are kept at most: two connections ready to each of a hundred neighbours are 800 where threads end TLS. */
const MOST_KEPT = 1000;
/** So large a share lanes and prepared ways have before there are fewer of them: a few are no reason for less. */
const SHARE_BESIDE = 0.25;
/** Of what these leave, those that transfers may take; idle connections have what is left then. */
const SHARE_OF_TRANSFERS = 0.9;

/**
 * Those that have descriptors at the same time. Look-ups of names are none of them: a transfer, or a way that is
 * prepared, has no connection to its origin while it looks its name up.
 */
export interface DescriptorUsers {
  readonly transfers: number;
  readonly connections: number;
  /** Connections of lanes beside the first one of each download. */
  readonly lanes: number;
  readonly preparedWays: number;
}

/** Which connections may have TLS that relay threads end. */
export interface ThreadTls {
  readonly ofClients: boolean;
  readonly ofOrigins: boolean;
}

const NO_TLS: ThreadTls = { ofClients: false, ofOrigins: false };

/** Descriptors at worst: of a transfer, of a connection that carries none, of a lane, and of a prepared way. */
function descriptorsPer({ ofClients, ofOrigins }: ThreadTls): {
  readonly transfer: number;
  readonly idle: number;
  readonly lane: number;
  readonly preparedWay: number;
} {
  const client = ofClients ? DESCRIPTORS_PER_TLS : 0;
  const origin = ofOrigins ? DESCRIPTORS_PER_TLS : 0;
  return {
    transfer: DESCRIPTORS_PER_TRANSFER + client + origin,
    idle: 1 + client,
    lane: DESCRIPTORS_PER_LANE + origin,
    preparedWay: 1 + origin,
  };
}

/**
 * What these many descriptors are enough for, at most what is wanted. With too few of them a depot could not even
 * connect to its master any more.
 */
export function fitDescriptors(
  wanted: DescriptorUsers,
  descriptors: number,
  threadTls = NO_TLS,
): DescriptorUsers {
  const per = descriptorsPer(threadTls);
  const free = Math.max(0, descriptors - DESCRIPTORS_AT_REST);
  const usable = Math.floor(free - Math.min(free * KEPT_SHARE, MOST_KEPT));
  const beside = wanted.lanes * per.lane + wanted.preparedWays * per.preparedWay;
  const mostForTransfers = usable - Math.min(beside, SHARE_BESIDE * usable);
  const mostTransfers = Math.floor((mostForTransfers * SHARE_OF_TRANSFERS) / per.transfer);
  const transfers = Math.max(1, Math.min(wanted.transfers, mostTransfers));
  const leftBeside = Math.max(0, usable - (transfers * per.transfer) / SHARE_OF_TRANSFERS);
  const share = leftBeside >= beside ? 1 : leftBeside / beside;
  const lanes = partOf(wanted.lanes, share);
  const preparedWays = Math.floor(wanted.preparedWays * share);
  const taken = transfers * per.transfer + lanes * per.lane + preparedWays * per.preparedWay;
  const idle = Math.max(0, Math.floor((usable - taken) / per.idle));
  return { transfers, connections: Math.min(wanted.connections, transfers + idle), lanes, preparedWays };
}

/** The fewest descriptors that all that is wanted fits into. */
export function leastDescriptorsFor(wanted: DescriptorUsers, threadTls = NO_TLS): number {
  const isEnough = (descriptors: number) => {
    const { transfers, connections, lanes, preparedWays } = fitDescriptors(wanted, descriptors, threadTls);
    const isWhole = lanes >= wanted.lanes && preparedWays >= wanted.preparedWays;
    return isWhole && transfers >= wanted.transfers && connections >= wanted.connections;
  };
  let enough = 1;
  while (!isEnough(enough)) enough *= 2;
  let tooFew = Math.floor(enough / 2);
  while (enough - tooFew > 1) {
    const between = Math.floor((enough + tooFew) / 2);
    if (isEnough(between)) enough = between;
    else tooFew = between;
  }
  return enough;
}

function partOf(most: number, share: number): number {
  return Math.max(1, Math.floor(most * share));
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
  const fitting = fitDescriptors(wanted, descriptors, threadTls);
  const ofTransfers = fitting.transfers / wanted.transfers;
  const ofConnections = fitting.connections / wanted.connections;
  return {
    ...wanted,
    ...fitting,
    perClient: partOf(wanted.perClient, ofTransfers),
    perNetwork: partOf(wanted.perNetwork, ofTransfers),
    perOrigin: partOf(wanted.perOrigin, ofTransfers),
    connectionsPerNetwork: partOf(wanted.connectionsPerNetwork, ofConnections),
    waitingPerNetwork: partOf(wanted.waitingPerNetwork, ofConnections),
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
