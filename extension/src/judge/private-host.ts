import {
  isAddressLiteral,
  matchesHostPattern,
  type OriginUrl,
  parseHostPattern,
  refuseAddress,
} from '@longhaul/shared';

/** Top-level names that never mean a host of the public Internet (RFC 6761, 6762, 8375, ICANN and customs). */
export const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'test',
  'invalid',
  'onion',
];

/** Whether a canonical host belongs to this machine, a local network or an intranet. */
export function isPrivateHost(host: string): boolean {
  if (isAddressLiteral(host)) {
    // Which ports are used is the master's decision; here only the address counts.
    return refuseAddress(host, 443, { ports: [443], allow: [] }) !== undefined;
  }
  return !host.includes('.') || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

/** Whether the user permits this private host. */
export function isPermittedPrivateHost(patterns: readonly string[], host: string, port: number): boolean {
  return patterns.some((text) => {
    const pattern = parseHostPattern(text);
    return pattern !== undefined && matchesHostPattern(pattern, host, port);
  });
}

/** Whether a host is private and none of those that the user permits. */
export function isLeftPrivate(url: Pick<OriginUrl, 'host' | 'port'>, permitted: readonly string[]): boolean {
  return isPrivateHost(url.host) && !isPermittedPrivateHost(permitted, url.host, url.port);
}
