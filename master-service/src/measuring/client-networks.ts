import { formatPrefix, readPrefix, truncate } from '../prefixes/address.ts';

/** Bits of a network whose parts are taken for neighbours. */
const NEIGHBOURHOOD_BITS = { v4: 16, v6: 32 } as const;
/** What this machine's own clients come from. */
const LOOPBACK = /^(?:127\.|::\/)/;

/** Whether a network is this machine's own: a client there says nothing of others. */
export function isLoopback(network: string): boolean {
  return LOOPBACK.test(network);
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
