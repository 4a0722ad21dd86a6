import { type CongestionControl, KIB, MIB } from '@longhaul/shared';
import type { EmulatedLink, Topology, Wire } from '../network/topology.ts';

/** Round-trip times from the origin to the client; the depots stand between. */
const RTTS_MS = [20, 30, 30, 20];
const SITES = ['origin', 'far', 'middle', 'near', 'client'];
/** The line rate of every link. */
const RATE_BPS = 100e6;
/** Half of rate times round-trip time of the whole path. */
const QUEUE_BYTES = 625_000;

/** `tcp_rmem`'s usual maximum. */
export const BIG_BUFFER_BYTES = 6 * MIB;
/** An old system or a small device: the kernel makes a window of about 150 KB of it. */
export const LIMITED_BUFFER_BYTES = 256 * KIB;

/** The depots of both topologies, from the client on. */
export const FOUR_LINKS_DEPOTS = ['near', 'middle', 'far'] as const;

export interface FourLinksConditions {
  /** Loss of the whole path in each direction, spread evenly over the four links. */
  readonly pathLoss: number;
  readonly clientBufferBytes: number;
  readonly originControl: CongestionControl;
  /** Where it is another row than the usual one. */
  readonly row?: RowOfLinks;
}

/** How a row of four links differs from the usual one; a list has one entry for each link, from the origin on. */
export interface RowOfLinks {
  /** What is special, for people. */
  readonly name: string;
  readonly rttsMs?: readonly number[];
  /** Of every link. */
  readonly rateBps?: number;
  /** Of each link: so many times rate times round-trip time of this link. */
  readonly queueOfLeg?: number;
  readonly every?: Partial<EmulatedLink>;
  readonly each?: readonly Partial<EmulatedLink>[];
  /** Hosts for cross traffic, each by a cable at a site of the row. */
  readonly traffic?: Readonly<Record<string, string>>;
}

const USUAL_ROW =
  'four links of 20, 30, 30 and 20 ms round-trip time, 100 Mbit/s, drop-tail queues of 625 kB';

/** Between a depot's host and the router of its site. */
const ACCESS = { rttMs: 1, rateBps: 1e9, queue: { bytes: 1e6 } };

/** Origin, three sites for depots and a client in a row: 100 ms of round-trip time at 100 Mbit/s. */
export function fourLinks(conditions: FourLinksConditions): Topology {
  const { row } = conditions;
  const rttsMs = row?.rttsMs ?? RTTS_MS;
  const rateBps = row?.rateBps ?? RATE_BPS;
  const loss = 1 - (1 - conditions.pathLoss) ** (1 / rttsMs.length);
  // Half of rate times round-trip time of the whole path, as usual, where nothing else is said.
  const usualBytes = Math.round(QUEUE_BYTES * (rateBps / RATE_BPS));
  return {
    name: row ? `four links, ${row.name}` : USUAL_ROW,
    sites: {
      origin: { role: 'origin', congestionControl: conditions.originControl },
      far: { role: 'depot' },
      middle: { role: 'depot' },
      near: { role: 'depot' },
      client: { role: 'client', receiveBufferBytes: conditions.clientBufferBytes },
      ...Object.fromEntries(
        Object.keys(row?.traffic ?? {}).map((host) => [host, { role: 'traffic' as const }]),
      ),
    },
    links: [
      ...rttsMs.map((rttMs, index): EmulatedLink => {
        const between = [SITES[index] ?? '', SITES[index + 1] ?? ''] as const;
        const bytes = row?.queueOfLeg ? Math.round((row.queueOfLeg * rateBps * rttMs) / 8000) : usualBytes;
        return { between, rttMs, rateBps, queue: { bytes }, loss, ...row?.every, ...row?.each?.[index] };
      }),
      ...Object.entries(row?.traffic ?? {}).map((ends): Wire => ({ wire: ends })),
    ],
  };
}

/**
 * The same row, lossless and with big buffers, but with each depot on a host beside the router of its site: whatever
 * happens to a host, the way past it remains.
 */
export function fourLinksWithHosts(): Topology {
  const conditions = { pathLoss: 0, clientBufferBytes: BIG_BUFFER_BYTES, originControl: 'cubic' } as const;
  const row = fourLinks(conditions);
  const isDepot = (site: string) => row.sites[site]?.role === 'depot';
  const onRow = (site: string) => (isDepot(site) ? routerOf(site) : site);
  const routers = FOUR_LINKS_DEPOTS.map((depot) => [routerOf(depot), { role: 'router' }] as const);
  const access = FOUR_LINKS_DEPOTS.map((depot) => ({
    ...ACCESS,
    between: [routerOf(depot), depot] as const,
  }));
  const links = row.links.map((link) =>
    'wire' in link ? link : { ...link, between: [onRow(link.between[0]), onRow(link.between[1])] as const },
  );
  return {
    name: `${row.name}, each depot beside its site's router behind 1 ms at 1 Gbit/s`,
    sites: { ...row.sites, ...Object.fromEntries(routers) },
    links: [...links, ...access],
  };
}

/** The router of a depot's site in {@link fourLinksWithHosts}. */
export function routerOf(depot: string): string {
  return `at-${depot}`;
}
