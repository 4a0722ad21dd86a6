import { formatAuthority, type OriginPlace } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** How long an origin is remembered: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** Origins that are remembered at once. */
const MOST_REMEMBERED = 1_000;

/**
 * Origins that are better asked for all of a file at once than for block after block: they think before each answer, count requests, or give each answer another
 * tag. By authority, as a download names it: where that leads on to others, it is the one that is known when the first question is asked.
 */
export class BlockBook {
  readonly #nowMs: () => number;
  readonly #notedAtMs = new LruMap<string, number>(MOST_REMEMBERED);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether an origin has to be asked for all at once. */
  isUnfit(place: OriginPlace): boolean {
    const notedAtMs = this.#notedAtMs.get(keyOf(place));
    return notedAtMs !== undefined && this.#nowMs() - notedAtMs < REMEMBERED_MS;
  }

  /** Takes note of an origin that blocks are bad for. */
  noteUnfit(place: OriginPlace): void {
    this.#notedAtMs.set(keyOf(place), this.#nowMs());
  }
}

function keyOf({ scheme, host, port }: OriginPlace): string {
  return `${scheme} ${formatAuthority(host, port)}`;
}
