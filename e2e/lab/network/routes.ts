import { linkSettings, lossRateOf } from './link-settings-of.ts';
import type { EmulatedLink, Topology, Wire } from './topology.ts';

/** Round-trip times are compared in whole nanoseconds, so that the order of adding them cannot matter. */
const NS_PER_MS = 1e6;
/** Bits for the number of links of a path, above one bit for each link. */
const HOP_BITS = 16n;

/** What lies between two sites, seen from the first. */
export interface Path {
  readonly links: readonly (EmulatedLink | Wire)[];
  /** Every site from the first to the last. */
  readonly sites: readonly string[];
  readonly rttMs: number;
  /** Probability that a packet from the first to the last site is lost on some link; queues not counted. */
  readonly lossRate: number;
  /** Smallest line rate on the way; Infinity when there are only wires. */
  readonly rateBps: number;
}

/** The two ends of a link or a wire. */
export function endsOf(link: EmulatedLink | Wire): readonly [string, string] {
  return 'wire' in link ? link.wire : link.between;
}

/**
 * The first IPv4 address of each site, in the order of the sites. Each has a /16 of its own: who shares one
 * counts as neighbours, and no site is that of another.
 */
export function siteAddresses(topology: Topology): ReadonlyMap<string, string> {
  return new Map(Object.keys(topology.sites).map((site, index) => [site, `10.${index + 1}.77.1`]));
}

/** Another address of the /24 that a site's first address lies in: the `place`th, from 1 on. */
export function addressAt(first: string, place: number): string {
  return first.replace(/[0-9]+$/, String(place));
}

/**
 * For each site, the link it sends on towards each other site: the ways of least RTT, then fewest links, then
 * earliest links (Dijkstra). No two ways are equally good, so the way back is the way there. A site that
 * cannot be reached has no entry.
 */
export function nextLinks(topology: Topology): ReadonlyMap<string, ReadonlyMap<string, EmulatedLink | Wire>> {
  const sites = Object.keys(topology.sites);
  const table = new Map(sites.map((site) => [site, new Map<string, EmulatedLink | Wire>()]));
  for (const destination of sites)
    for (const [site, link] of treeTowards(topology, destination)) table.get(site)?.set(destination, link);
  return table;
}

/** The way that packets take from one site to another. Throws when there is none. */
export function pathBetween(topology: Topology, from: string, to: string): Path {
  const tree = treeTowards(topology, to);
  const links: (EmulatedLink | Wire)[] = [];
  const sites = [from];
  let rttMs = 0;
  let passRate = 1;
  let rateBps = Number.POSITIVE_INFINITY;
  for (let site = from; site !== to; ) {
    const link = tree.get(site);
    if (!link) throw new Error(`topology '${topology.name}' has no way from '${from}' to '${to}'`);
    const [first, second] = endsOf(link);
    if (!('wire' in link)) {
      const { loss, rateBps: lineRateBps } = linkSettings(link)[site === first ? 'forward' : 'backward'];
      rttMs += link.rttMs;
      passRate *= 1 - lossRateOf(loss);
      rateBps = Math.min(rateBps, lineRateBps);
    }
    site = site === first ? second : first;
    links.push(link);
    sites.push(site);
  }
  return { links, sites, rttMs, lossRate: 1 - passRate, rateBps };
}

/** For every site that can reach `destination`, the first link of its way there. */
function treeTowards(topology: Topology, destination: string): Map<string, EmulatedLink | Wire> {
  const weights = linkWeights(topology);
  const tree = new Map<string, EmulatedLink | Wire>();
  const costs = new Map([[destination, 0n]]);
  const open = new Set([destination]);
  for (let site = cheapest(open, costs); site !== undefined; site = cheapest(open, costs)) {
    open.delete(site);
    for (const [link, weight] of weights) {
      const [first, second] = endsOf(link);
      if (site !== first && site !== second) continue;
      const neighbour = site === first ? second : first;
      const cost = (costs.get(site) ?? 0n) + weight;
      const known = costs.get(neighbour);
      if (known !== undefined && known <= cost) continue;
      costs.set(neighbour, cost);
      tree.set(neighbour, link);
      open.add(neighbour);
    }
  }
  return tree;
}

/** From the most significant on: round-trip time, one hop, a bit of the link's own that makes every sum unique. */
function linkWeights({ links }: Topology): [EmulatedLink | Wire, bigint][] {
  const linkBits = BigInt(links.length);
  return links.map((link, index) => {
    const rttNs = 'wire' in link ? 0n : BigInt(Math.round(link.rttMs * NS_PER_MS));
    return [link, (rttNs << (linkBits + HOP_BITS)) + (1n << linkBits) + (1n << BigInt(index))];
  });
}

function cheapest(open: ReadonlySet<string>, costs: ReadonlyMap<string, bigint>): string | undefined {
  let best: string | undefined;
  for (const site of open)
    if (best === undefined || (costs.get(site) ?? 0n) < (costs.get(best) ?? 0n)) best = site;
  return best;
}
