import { type CongestionControl, KIB, MIB } from '@longhaul/shared';
import type { EmulatedLink, Topology } from '../network/topology.ts';

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
}

/** Between a depot's host and the router of its site. */
const ACCESS = { rttMs: 1, rateBps: 1e9, queue: { bytes: 1e6 } };

/** Origin, three sites for depots and a client in a row: 100 ms of round-trip time at 100 Mbit/s. */
export function fourLinks(conditions: FourLinksConditions): Topology {
  const loss = 1 - (1 - conditions.pathLoss) ** (1 / RTTS_MS.length);
  return {
    name: 'four links of 20, 30, 30 and 20 ms round-trip time, 100 Mbit/s, drop-tail queues of 625 kB',
    sites: {
      origin: { role: 'origin', congestionControl: conditions.originControl },
      far: { role: 'depot' },
      middle: { role: 'depot' },
      near: { role: 'depot' },
      client: { role: 'client', receiveBufferBytes: conditions.clientBufferBytes },
    },
    links: RTTS_MS.map((rttMs, index): EmulatedLink => {
      const between = [SITES[index] ?? '', SITES[index + 1] ?? ''] as const;
      return { between, rttMs, rateBps: RATE_BPS, queue: { bytes: QUEUE_BYTES }, loss };
    }),
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
