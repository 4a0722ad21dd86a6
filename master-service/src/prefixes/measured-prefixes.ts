import { DEPOT_ID } from '@longhaul/shared';
import * as z from 'zod';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { type Address, formatPrefix, type Prefix, readPrefix } from './address.ts';

/**
 * Prefixes that are remembered, about 450 bytes each; the one that was not measured for the longest time goes
 * first.
 */
const MAX_MEASURED = 100_000;
/** What was measured so long ago says nothing any more: networks move. */
const MEASURED_LIFE_MS = 7 * 86_400_000;
/** What is measured is a /48 of IPv6 or more. */
const LONGEST_MEASURED_V6 = 48;

/** The site that measurements have found nearest to a prefix, named as its depot. */
const PREFIX_SITE = {
  name: 'prefix-site',
  schema: z.looseObject({ site: z.string().regex(DEPOT_ID) }),
  keys: /^[0-9a-f.:]{2,39}\/[0-9]{1,2}$/,
  most: MAX_MEASURED,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const PREFIX_FACTS = [PREFIX_SITE];

type Measured = Fact<z.output<(typeof PREFIX_SITE)['schema']>>;

/** Which site measurements have found nearest to a prefix. */
interface NearestSite {
  readonly prefix: Prefix;
  readonly site: string;
  readonly ageMs: number;
}

/**
 * What measurements say about who is where: the longest prefix around an address counts, and of several
 * masters who says it last. A replica of facts. Whether a measurement may be believed is decided before it
 * comes here.
 */
export class MeasuredPrefixes {
  readonly #facts: Facts;
  readonly #v4 = new Family();
  readonly #v6 = new Family();

  constructor(facts = new Facts({ kinds: PREFIX_FACTS })) {
    this.#facts = facts;
    facts.store.watch(PREFIX_SITE, (now, before) => this.#refresh(now ?? before));
  }

  get size(): number {
    return this.#v4.size + this.#v6.size;
  }

  /** Measurements have found `site` nearest to a prefix; of IPv6 at most a /48. */
  learn(prefix: Prefix, site: string, nowMs: number): void {
    if (prefix.isV6 && prefix.length > LONGEST_MEASURED_V6)
      throw new Error(`a /${prefix.length} is too long to be measured by`);
    this.#facts.learn(PREFIX_SITE, formatPrefix(prefix), { site }, nowMs);
  }

  /** The longest prefix around the address that was measured lately. */
  longest(address: Address, nowMs: number): NearestSite | undefined {
    const found = (address.isV6 ? this.#v6 : this.#v4).longest(address, nowMs - MEASURED_LIFE_MS);
    if (!found) return undefined;
    const { prefix, fact } = found;
    // A clock that was set back makes nothing older.
    return { prefix, site: fact.value.site, ageMs: Math.max(0, nowMs - fact.timeMs) };
  }

  #refresh(changed: Measured | undefined): void {
    if (!changed) return;
    const prefix = readPrefix(changed.key);
    // Another master may say what is no prefix here.
    if (typeof prefix === 'string' || (prefix.isV6 && prefix.length > LONGEST_MEASURED_V6)) return;
    const fact = this.#facts.store.newest(PREFIX_SITE, changed.key);
    (prefix.isV6 ? this.#v6 : this.#v4).put(prefix, fact);
  }
}

interface Placed {
  readonly prefix: Prefix;
  readonly fact: Measured;
}

/** The prefixes of one address family. */
class Family {
  readonly #placed = new Map<number, Placed>();
  /** Lengths that have occurred, the longest first. */
  #lengths: readonly number[] = [];

  get size(): number {
    return this.#placed.size;
  }

  put(prefix: Prefix, fact: Measured | undefined): void {
    const key = keyOf(prefix, prefix.length);
    if (!fact) {
      this.#placed.delete(key);
      return;
    }
    this.#placed.set(key, { prefix, fact });
    if (!this.#lengths.includes(prefix.length))
      this.#lengths = [...this.#lengths, prefix.length].toSorted((one, other) => other - one);
  }

  longest(address: Address, sinceMs: number): Placed | undefined {
    for (const length of this.#lengths) {
      const placed = this.#placed.get(keyOf(address, length));
      if (placed && placed.fact.timeMs >= sinceMs) return placed;
    }
    return undefined;
  }
}

/**
 * The first bits of an address, with a 1 before them, which tells the length: 49 bits at most, so that a
 * number holds them.
 */
function keyOf({ high, low }: Address, length: number): number {
  if (length === 0) return 1;
  if (length <= 32) return 2 ** length + (high >>> (32 - length));
  return 2 ** length + high * 2 ** (length - 32) + (low >>> (64 - length));
}
