import { seededRandom } from '../../lab/results/seeded-random.ts';

/** Of all prefixes, as in the tables of routers at the end of 2026. */
const V4_SHARE = 0.81;
/** Of the prefixes of each family, by length. */
const V4_LENGTHS = {
  24: 60,
  23: 10,
  22: 11,
  21: 5,
  20: 5,
  19: 3,
  18: 1.5,
  17: 1,
  16: 2,
  15: 0.5,
  14: 0.5,
  13: 0.3,
  12: 0.2,
};
const V6_LENGTHS = { 48: 47, 46: 3, 44: 9, 40: 9, 36: 6, 33: 2, 32: 18, 30: 1, 29: 5 };
/** Autonomous systems that announce something. */
const SYSTEMS = 78_000;
/** More specific prefixes that lie in one that was drawn before. */
const NESTED_SHARE = 0.45;
/** Of these, such that are announced by the same system as the one around them: to lead traffic, or for customers. */
const SAME_SYSTEM_SHARE = 0.6;
/** Addresses that are asked for: most of them in a prefix, as those of clients are. */
const INSIDE_SHARE = 0.9;

interface Drawn {
  readonly isV6: boolean;
  /** The first 32 bits, and the next. */
  readonly high: number;
  readonly low: number;
  readonly length: number;
  readonly asNumber: number;
}

export interface DrawnTable {
  /** In no order. */
  readonly entries: readonly (readonly [prefix: string, asNumber: number])[];
  readonly v4Addresses: readonly string[];
  readonly v6Addresses: readonly string[];
}

/** Draws a table of routes like the Internet's, and addresses to ask for; always the same for one seed. */
export function drawTable(prefixes: number, addresses: number, seed: number): DrawnTable {
  const random = seededRandom(seed);
  const below = (end: number) => Math.floor(random() * end);
  const v4Count = Math.round(prefixes * V4_SHARE);
  const v4 = drawFamily(v4Count, false, V4_LENGTHS, random);
  const v6 = drawFamily(prefixes - v4Count, true, V6_LENGTHS, random);
  const entries = [...v4, ...v6].map((drawn) => [textOf(drawn), drawn.asNumber] as const);
  for (let at = entries.length - 1; at > 0; at -= 1) {
    const other = below(at + 1);
    const [one, two] = [entries[at], entries[other]];
    if (one && two) [entries[at], entries[other]] = [two, one];
  }
  const addressOf = (among: readonly Drawn[], isV6: boolean) => {
    const inside = random() < INSIDE_SHARE ? among[below(among.length)] : undefined;
    const [high, low] = fill(inside ?? everything(isV6), random);
    return isV6 ? `${groups(high)}:${groups(low)}:0:0:0:${below(0x1_0000).toString(16)}` : dotted(high);
  };
  return {
    entries,
    v4Addresses: Array.from({ length: addresses }, () => addressOf(v4, false)),
    v6Addresses: Array.from({ length: addresses }, () => addressOf(v6, true)),
  };
}

function drawFamily(
  count: number,
  isV6: boolean,
  lengths: Readonly<Record<string, number>>,
  random: () => number,
): Drawn[] {
  const drawn: Drawn[] = [];
  const known = new Set<string>();
  const weights = Object.entries(lengths).map(([length, weight]) => [Number(length), weight] as const);
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const drawLength = () => {
    let left = random() * sum;
    return weights.find(([, weight]) => (left -= weight) <= 0)?.[0] ?? 24;
  };
  while (drawn.length < count) {
    const length = drawLength();
    const outer = random() < NESTED_SHARE ? drawn[Math.floor(random() * drawn.length)] : undefined;
    const start = outer && outer.length < length ? outer : everything(isV6);
    const [high, low] = fill(start, random);
    const prefix = {
      isV6,
      high: length >= 32 ? high : (high & (0xffff_ffff << (32 - length))) >>> 0,
      low: length <= 32 ? 0 : (low & (0xffff_ffff << (64 - length))) >>> 0,
      length,
      asNumber:
        start === outer && random() < SAME_SYSTEM_SHARE ? outer.asNumber : 1 + Math.floor(random() * SYSTEMS),
    };
    const key = textOf(prefix);
    if (!known.has(key)) drawn.push(prefix);
    known.add(key);
  }
  return drawn;
}

/** What prefixes of a family are drawn from. */
function everything(isV6: boolean): Drawn {
  return { isV6, high: isV6 ? 0x2400_0000 : 0x0100_0000, low: 0, length: isV6 ? 6 : 0, asNumber: 0 };
}

/** Any address in a prefix. */
function fill({ high, low, length }: Drawn, random: () => number): [high: number, low: number] {
  const any = () => Math.floor(random() * 2 ** 32);
  const keep = (value: number, bits: number) => {
    if (bits <= 0) return any();
    return bits >= 32 ? value : (value | (any() >>> bits)) >>> 0;
  };
  return [keep(high, length), keep(low, length - 32)];
}

function textOf({ isV6, high, low, length }: Drawn): string {
  return `${isV6 ? `${groups(high)}:${groups(low)}::` : dotted(high)}/${length}`;
}

const dotted = (high: number) => [high >>> 24, (high >>> 16) & 255, (high >>> 8) & 255, high & 255].join('.');
const groups = (word: number) => `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`;
