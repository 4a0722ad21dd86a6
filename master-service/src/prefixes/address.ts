/**
 * Addresses as numbers: an IPv4 address in `high`, of IPv6 the first 64 bits in `high` and `low`, because
 * what lies behind them belongs to one line. An IPv4-mapped address is an IPv4 address.
 */
export interface Address {
  readonly isV6: boolean;
  /** The first 32 bits, unsigned. */
  readonly high: number;
  /** The next 32 bits, unsigned; 0 of IPv4. */
  readonly low: number;
}

export interface Prefix extends Address {
  readonly length: number;
}

/** Longest prefix of IPv4 ... */
export const V4_BITS = 32;
/** ... and of IPv6: one line has a /64. */
export const V6_BITS = 64;

const DOT = 46;
const COLON = 58;
const ZERO = 48;

/** Reads an address as sockets spell it, with or without a zone; `undefined` for anything else. */
export function readAddress(text: string): Address | undefined {
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === DOT) break;
    if (char === COLON) return readV6(text);
  }
  const high = readV4(text, 0);
  return high === undefined ? undefined : { isV6: false, high, low: 0 };
}

/** Reads a prefix in CIDR form; otherwise says in a few words what is wrong with it. */
export function readPrefix(text: string): Prefix | string {
  const slash = text.indexOf('/');
  if (slash < 0) return `'${text}' is no prefix, for example 192.0.2.0/24`;
  const base = readAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (!base || !/^(0|[1-9][0-9]{0,2})$/.test(digits))
    return `'${text}' is no prefix, for example 192.0.2.0/24`;
  const isMapped = !base.isV6 && text.includes(':');
  const length = Number(digits) - (isMapped ? 96 : 0);
  const most = base.isV6 ? V6_BITS : V4_BITS;
  if (length < 0 || length > most) return `/${digits} is not a length from /0 to /${isMapped ? 128 : most}`;
  const prefix = { ...truncate(base, length), length };
  return prefix.high === base.high && prefix.low === base.low && !hasBitsBehind(text)
    ? prefix
    : `the address has bits behind its length: ${formatPrefix(prefix)} is meant`;
}

/** The address with all bits behind the first `length` set to 0. */
export function truncate({ isV6, high, low }: Address, length: number): Address {
  return { isV6, high: (high & maskOf(length)) >>> 0, low: (low & maskOf(length - 32)) >>> 0 };
}

export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix)}/${prefix.length}`;
}

/** How RFC 5952 spells the address, with zeros behind the first 64 bits of IPv6. */
export function formatAddress({ isV6, high, low }: Address): string {
  if (!isV6) return [high >>> 24, (high >>> 16) & 255, (high >>> 8) & 255, high & 255].join('.');
  const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff];
  // The second half is zero, so that the longest run of zeros is the one at the end.
  while (groups.at(-1) === 0) groups.pop();
  return `${groups.map((group) => group.toString(16)).join(':')}::`;
}

function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
}

/** Four numbers from 0 to 255 without leading zeros, from `at` to the end. */
function readV4(text: string, at: number): number | undefined {
  let value = 0;
  let part = -1;
  let dots = 0;
  for (let index = at; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === DOT) {
      if (part < 0 || dots === 3) return undefined;
      value = value * 256 + part;
      part = -1;
      dots += 1;
    } else {
      const digit = char - ZERO;
      if (digit < 0 || digit > 9 || part === 0) return undefined;
      part = part < 0 ? digit : part * 10 + digit;
      if (part > 255) return undefined;
    }
  }
  return dots === 3 && part >= 0 ? value * 256 + part : undefined;
}

function readV6(text: string): Address | undefined {
  const zone = text.indexOf('%');
  const groups = groupsOf(zone < 0 ? text : text.slice(0, zone));
  if (!groups) return undefined;
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups;
  if (g5 === 0xffff && (g0 | g1 | g2 | g3 | g4) === 0) return { isV6: false, high: g6 * 65_536 + g7, low: 0 };
  return { isV6: true, high: g0 * 65_536 + g1, low: g2 * 65_536 + g3 };
}

/** The eight groups of an IPv6 address, RFC 4291 section 2.2. */
function groupsOf(text: string): number[] | undefined {
  const groups: number[] = [];
  /** Where `::` stands, in groups. */
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    let value = 0;
    const start = at;
    for (; at < text.length; at += 1) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    if (text.charCodeAt(at) === DOT) {
      const tail = readV4(text, start);
      if (tail === undefined) return undefined;
      groups.push(tail >>> 16, tail & 0xffff);
      break;
    }
    if (at === start || at - start > 4) return undefined;
    groups.push(value);
    if (groups.length > 8) return undefined;
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON || at + 1 === text.length) return undefined;
    at += 1;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return undefined;
      gap = groups.length;
      at += 1;
    }
  }
  if (gap < 0) return groups.length === 8 ? groups : undefined;
  const missing = 8 - groups.length;
  if (missing < 1) return undefined;
  groups.splice(gap, 0, ...[0, 0, 0, 0, 0, 0, 0, 0].slice(0, missing));
  return groups;
}

function hexDigit(char: number): number {
  if (char >= ZERO && char <= 57) return char - ZERO;
  const letter = char | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Whether an IPv6 prefix sets bits behind the first 64, which no length reaches. */
function hasBitsBehind(text: string): boolean {
  if (!text.includes(':')) return false;
  const groups = groupsOf(text.slice(0, text.indexOf('/')));
  if (!groups) return false;
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return !isMapped && groups.slice(4).some((group) => group !== 0);
}
