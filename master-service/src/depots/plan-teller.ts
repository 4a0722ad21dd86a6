import { type Chain, formatNoticeTarget, noticeText } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import { type DepotLine, DepotRequests } from './depot-requests.ts';

/** One depot is told of the same neighbour at most so often: a connection that waits is soon taken by a busy chain. */
const TELL_INTERVAL_MS = 250;
/** Notices under way at once; what is beyond is not told. A notice that comes late is of no use. */
const MOST_UNDER_WAY = 64;
/** Longer than any notice may be of use. */
const TELL_TIMEOUT_MS = 2_000;
/** A depot that answers otherwise than expected knows no notices: it is asked again after this. */
const DEAF_MS = 600_000;
/** Pairs of depots remembered. */
const MOST_PAIRS = 10_000;

/**
 * Tells the depots of a chain that a client is about to come, so that they connect to each other while it is
 * redirected. Whether it arrives changes nothing but how soon the first byte comes, so nothing is repeated
 * and no failure told.
 */
export class PlanTeller {
  readonly #now: () => number;
  /** A notice is no secret, and proves itself: whoever answers in a depot's place learns which neighbour it has. */
  readonly #depots: DepotRequests;
  readonly #toldAtMs = new LruMap<string, number>(MOST_PAIRS);
  readonly #deafSinceMs = new LruMap<string, number>(MOST_PAIRS);

  constructor(line: DepotLine) {
    this.#now = line.now;
    this.#depots = new DepotRequests({ ...line, most: MOST_UNDER_WAY, timeoutMs: TELL_TIMEOUT_MS });
  }

  /** Tells every depot of a chain but the last which one comes behind it. Resolves when it is done; never rejects. */
  async tell(chain: Chain): Promise<void> {
    const nowMs = this.#now();
    // Of most chains all were told a moment ago.
    if (chain.every((id, index) => index === 0 || this.#isTold(`${chain[index - 1]} ${id}`, nowMs))) return;
    await Promise.all(chain.slice(1).map((next, index) => this.#tellOne(chain[index] ?? '', next)));
  }

  #isTold(pair: string, nowMs: number): boolean {
    return Math.abs(nowMs - (this.#toldAtMs.get(pair) ?? Number.NEGATIVE_INFINITY)) < TELL_INTERVAL_MS;
  }

  #isDeaf(id: string, nowMs: number): boolean {
    return Math.abs(nowMs - (this.#deafSinceMs.get(id) ?? Number.NEGATIVE_INFINITY)) < DEAF_MS;
  }

  close(): void {
    this.#depots.close();
  }

  async #tellOne(id: string, next: string): Promise<void> {
    const timeMs = this.#now();
    const pair = `${id} ${next}`;
    if (this.#isTold(pair, timeMs) || this.#isDeaf(id, timeMs)) return;
    const depot = this.#depots.find(id);
    if (!depot) return;
    this.#toldAtMs.set(pair, timeMs);
    const signed = this.#depots.sign(noticeText(id, { next, timeMs }));
    await this.#depots.get(depot, formatNoticeTarget({ next, timeMs, ...signed }), (answer) => {
      if (answer.statusCode !== 204) this.#deafSinceMs.set(id, this.#now());
      answer.resume();
    });
  }
}
