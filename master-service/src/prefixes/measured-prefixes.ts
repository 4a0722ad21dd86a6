import { LruMap } from '@longhaul/shared/service';
import type { Address, Prefix } from './address.ts';

/** Prefixes of one family that are remembered, about 200 bytes each; the one that was not asked for, nor measured, for the longest time goes first. */
const MAX_MEASURED = 100_000;
/** What was measured so long ago says nothing any more: networks move. */
const MEASURED_LIFE_MS = 7 * 86_400_000;
/** What is measured is a /48 of IPv6 or more. */
const LONGEST_MEASURED_V6 = 48;

interface Measured {
  readonly prefix: Prefix;
  readonly site: string;
  readonly atMs: number;
}

/** Which site measurements have found nearest to a prefix. */
interface NearestSite {
  readonly prefix: Prefix;
  readonly site: string;
  readonly ageMs: number;
}

/**
 * What measurements say about who is where: the longest prefix around an address counts. Whether a measurement may be believed
 * is decided before it comes here.
 */
export class MeasuredPrefixes {
  readonly #v4 = new Family();
  readonly #v6 = new Family();

  get size(): number {
    return this.#v4.prefixes.size + this.#v6.prefixes.size;
  }

  /** Prefixes forgotten because there were too many. */
  get forgotten(): number {
    return this.#v4.forgotten + this.#v6.forgotten;
  }

  /** Measurements have found `site` nearest to a prefix; of IPv6 at most a /48. */
  learn(prefix: Prefix, site: string, nowMs: number): void {
    if (prefix.isV6 && prefix.length > LONGEST_MEASURED_V6)
      throw new Error(`a /${prefix.length} is too long to be measured by`);
    (prefix.isV6 ? this.#v6 : this.#v4).learn({ prefix, site, atMs: nowMs });
  }

  /** The longest prefix around the address that was measured lately. */
  longest(address: Address, nowMs: number): NearestSite | undefined {
    const measured = (address.isV6 ? this.#v6 : this.#v4).longest(address, nowMs - MEASURED_LIFE_MS);
    if (!measured) return undefined;
    const { prefix, site, atMs } = measured;
    // A clock that was set back makes nothing older.
    return { prefix, site, ageMs: Math.max(0, nowMs - atMs) };
  }
}

/** The prefixes of one address family. */
class Family {
  readonly prefixes = new LruMap<number, Measured>(MAX_MEASURED);
  /** Lengths that have occurred, the longest first. */
  #lengths: readonly number[] = [];
  forgotten = 0;

  learn(measured: Measured): void {
    const { prefix } = measured;
    const key = keyOf(prefix, prefix.length);
    if (this.prefixes.size === MAX_MEASURED && !this.prefixes.get(key)) this.forgotten += 1;
    this.prefixes.set(key, measured);
    if (!this.#lengths.includes(prefix.length))
      this.#lengths = [...this.#lengths, prefix.length].toSorted((one, other) => other - one);
  }

  longest(address: Address, sinceMs: number): Measured | undefined {
    for (const length of this.#lengths) {
      const measured = this.prefixes.get(keyOf(address, length));
      if (measured && measured.atMs >= sinceMs) return measured;
    }
    return undefined;
  }
}

/** The first bits of an address, with a 1 before them, which tells the length: 49 bits at most, so that a number holds them. */
function keyOf({ high, low }: Address, length: number): number {
  if (length === 0) return 1;
  if (length <= 32) return 2 ** length + (high >>> (32 - length));
  return 2 ** length + high * 2 ** (length - 32) + (low >>> (64 - length));
}
