import { formatAuthority, type OriginPlace } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** How long an origin is remembered that blocks are bad for: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** One that has given a block is asked for blocks at once for so long: what servers do changes seldom. */
const TRUSTED_MS = 86_400_000;
/** Origins that are remembered at once. */
const MOST_REMEMBERED = 1_000;

/** An origin that blocks were bad for. */
interface Unfit {
  readonly atMs: number;
  /** The client network that met it last. */
  readonly network: string;
  /** Clients of another network have met it as well. */
  readonly isAgreed: boolean;
}

/**
 * Origins that have given a block beside a file that was asked for as a whole, and those that are better asked for all at once than for block after block: they think
 * before each answer, count requests, or give each answer another tag. By authority, as a download names it: where that leads on to others, it is the one that is known
 * when the first question is asked. What one client network has met counts for others only when a second one has met it too: who asks for a file that nobody has, or
 * with conditions of his own, gets odd answers from good origins.
 */
export class BlockBook {
  readonly #nowMs: () => number;
  readonly #unfit = new LruMap<string, Unfit>(MOST_REMEMBERED);
  readonly #fitAtMs = new LruMap<string, number>(MOST_REMEMBERED);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether an origin has to be asked for all at once, for clients of this network. */
  isUnfit(place: OriginPlace, network: string): boolean {
    const unfit = this.#latelyUnfit(place);
    return unfit !== undefined && (unfit.isAgreed || unfit.network === network);
  }

  /** Whether an origin is known to give blocks of the file that it gives. */
  isFit(place: OriginPlace): boolean {
    return this.#isLately(this.#fitAtMs.get(keyOf(place)), TRUSTED_MS);
  }

  noteFit(place: OriginPlace): void {
    this.#fitAtMs.set(keyOf(place), this.#nowMs());
  }

  /** Takes note of an origin that blocks were bad for, for a client of this network. */
  noteUnfit(place: OriginPlace, network: string): void {
    const before = this.#latelyUnfit(place);
    const isAgreed = before !== undefined && (before.isAgreed || before.network !== network);
    this.#unfit.set(keyOf(place), { atMs: this.#nowMs(), network, isAgreed });
    if (isAgreed) this.#fitAtMs.set(keyOf(place), Number.NEGATIVE_INFINITY);
  }

  #latelyUnfit(place: OriginPlace): Unfit | undefined {
    const unfit = this.#unfit.get(keyOf(place));
    return this.#isLately(unfit?.atMs, REMEMBERED_MS) ? unfit : undefined;
  }

  #isLately(notedAtMs: number | undefined, lifeMs: number): boolean {
    return notedAtMs !== undefined && this.#nowMs() - notedAtMs < lifeMs;
  }
}

function keyOf({ scheme, host, port }: OriginPlace): string {
  return `${scheme} ${formatAuthority(host, port)}`;
}
