import { formatPrefix, readPrefix, truncate } from '../prefixes/address.ts';

/** Bits of a network whose parts are taken for neighbours. */
const NEIGHBOURHOOD_BITS = { v4: 16, v6: 32 } as const;
/** What this machine's own clients come from. */
const LOOPBACK = /^(?:127\.|::\/)/;

/** Whether a network is this machine's own: a client there says nothing of others. */
export function isLoopback(network: string): boolean {
  return LOOPBACK.test(network);
}

/**
 * Networks that are another one at each site, of clients, and of proxies and containers before a depot more
 * often (RFC 1918, 3927, 4193, 6598).
 */
const OF_A_SITE =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|::\/|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/;

/** Whether a network is one of those that each site may have. */
export function isOfASite(network: string): boolean {
  return OF_A_SITE.test(network);
}

/** Whether two networks are of different families, IPv4 and IPv6. */
export function areOfTwoFamilies(one: string, other: string): boolean {
  return one.includes(':') !== other.includes(':');
}

/** The larger network around a client's, whose parts are its neighbours; `undefined` where it is none. */
export function neighbourhoodOf(text: string): string | undefined {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') return undefined;
  const length = prefix.isV6 ? NEIGHBOURHOOD_BITS.v6 : NEIGHBOURHOOD_BITS.v4;
  return formatPrefix({ ...truncate(prefix, length), length });
}
