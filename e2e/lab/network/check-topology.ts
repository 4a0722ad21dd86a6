import { CONGESTION_CONTROL_NAMES } from '@longhaul/shared';
import { checkDirection } from '../emulator/check-settings.ts';
import { LabRefusal } from '../refusal.ts';
import { linkSettings } from './link-settings-of.ts';
import { endsOf, nextLinks } from './routes.ts';
import type { CrossTraffic, EmulatedLink, Topology } from './topology.ts';

/** Site names become parts of namespace names and certificates. */
const SITE_NAME = /^[a-z0-9-]{1,12}$/;
/** One address for each site out of 10.1.77.1 to 10.254.77.1. */
const MOST_SITES = 254;
/** Farther than any path on Earth; more is surely seconds given as milliseconds, or bytes as bits. */
const LONGEST_RTT_MS = 60_000;
/** From .1 on, in a /24. */
const MOST_ADDRESSES = 254;
/** The kernel does not take less for a connection. */
const LEAST_RECEIVE_BUFFER_BYTES = 4096;
const ROLES: readonly string[] = ['client', 'origin', 'depot', 'router', 'traffic'];

/** Throws a `LabRefusal` with every mistake in a topology, and in traffic that is to cross it. */
export function checkTopology(topology: Topology, crossTraffic: readonly CrossTraffic[] = []): void {
  const mistakes = [
    ...checkSites(topology),
    ...checkEnds(topology),
    ...topology.links.flatMap((link) => ('wire' in link ? [] : checkLink(link))),
    ...checkCrossTraffic(topology, crossTraffic),
  ];
  // Whether all hang together can be said only of links that are right.
  if (mistakes.length === 0) mistakes.push(...checkConnected(topology));
  if (mistakes.length === 0) return;
  throw new LabRefusal(
    'lab-topology-invalid',
    `Correct the topology '${topology.name}': ${mistakes.join('; ')}.`,
  );
}

function checkSites({ sites }: Topology): string[] {
  const names = Object.keys(sites);
  const mistakes = names
    .filter((name) => !SITE_NAME.test(name))
    .map((name) => `the site name '${name}' is not of 1 to 12 letters a-z, digits and hyphens`);
  if (names.length === 0) mistakes.push('it has no sites');
  if (names.length > MOST_SITES) mistakes.push(`it has ${names.length} sites, of at most ${MOST_SITES}`);
  for (const [name, { role, congestionControl, receiveBufferBytes, addresses }] of Object.entries(sites)) {
    if (!ROLES.includes(role)) mistakes.push(`site '${name}' has role '${role}' instead of ${oneOf(ROLES)}`);
    if (congestionControl !== undefined && !CONGESTION_CONTROL_NAMES.includes(congestionControl))
      mistakes.push(
        `site '${name}' has congestionControl '${congestionControl}' instead of ${oneOf(CONGESTION_CONTROL_NAMES)}`,
      );
    if (receiveBufferBytes !== undefined && !isReceiveBuffer(receiveBufferBytes))
      mistakes.push(`site '${name}' has ${describeReceiveBuffer(receiveBufferBytes)}`);
    if (
      addresses !== undefined &&
      !(Number.isInteger(addresses) && addresses >= 1 && addresses <= MOST_ADDRESSES)
    )
      mistakes.push(`site '${name}' has ${addresses} addresses, not 1 to ${MOST_ADDRESSES}`);
  }
  return mistakes;
}

/** Whether the kernel takes this as the largest receive buffer, in bytes. */
export function isReceiveBuffer(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes >= LEAST_RECEIVE_BUFFER_BYTES && bytes < 2 ** 31;
}

/** Says what is wrong with a receive buffer, and what would be right. */
export function describeReceiveBuffer(bytes: number): string {
  return `receiveBufferBytes ${bytes} instead of whole bytes from ${LEAST_RECEIVE_BUFFER_BYTES} to ${2 ** 31 - 1}`;
}

function checkEnds({ sites, links }: Topology): string[] {
  const mistakes: string[] = [];
  const seen = new Set<string>();
  for (const link of links) {
    const ends = endsOf(link);
    const text = nameOf(ends);
    for (const end of new Set(ends)) if (!(end in sites)) mistakes.push(`${text} ${unknownSite(end, sites)}`);
    if (ends[0] === ends[1]) mistakes.push(`${text} joins a site with itself`);
    const pair = ends.toSorted().join(' ');
    if (seen.has(pair)) mistakes.push(`${text} is there twice`);
    seen.add(pair);
  }
  return mistakes;
}

function checkLink(link: EmulatedLink): string[] {
  const mistakes: string[] = [];
  const isRttRight = link.rttMs >= 0 && link.rttMs <= LONGEST_RTT_MS;
  if (!isRttRight) mistakes.push(`rttMs is ${link.rttMs}: give milliseconds from 0 to ${LONGEST_RTT_MS}`);
  const { forward, backward } = linkSettings({ ...link, rttMs: isRttRight ? link.rttMs : 0 });
  const there = checkDirection(forward);
  const back = checkDirection(backward).filter((mistake) => !there.includes(mistake));
  mistakes.push(...there, ...back.map((mistake) => `backward: ${mistake}`));
  return mistakes.map((mistake) => `${nameOf(link.between)}: ${mistake}`);
}

function checkCrossTraffic({ sites }: Topology, crossTraffic: readonly CrossTraffic[]): string[] {
  return crossTraffic.flatMap(({ from, to, flows }) => {
    const text = `cross traffic from '${from}' to '${to}'`;
    const mistakes = [...new Set([from, to])]
      .filter((site) => !(site in sites))
      .map((site) => `${text} ${unknownSite(site, sites)}`);
    if (from === to) mistakes.push(`${text} stays at its site`);
    if (!Number.isSafeInteger(flows) || flows < 1) mistakes.push(`${text} has ${flows} flows, not 1 or more`);
    return mistakes;
  });
}

function checkConnected(topology: Topology): string[] {
  const [first, ...others] = Object.keys(topology.sites);
  if (first === undefined) return [];
  const reached = nextLinks(topology).get(first);
  return others
    .filter((site) => !reached?.has(site))
    .map((site) => `no links lead from '${first}' to '${site}'`);
}

function unknownSite(site: string, sites: Topology['sites']): string {
  return `names the unknown site '${site}': known are ${Object.keys(sites).join(', ')}`;
}

function nameOf([first, second]: readonly [string, string]): string {
  return `the link ${first}-${second}`;
}

function oneOf(names: readonly string[]): string {
  return `one of ${names.join(', ')}`;
}
