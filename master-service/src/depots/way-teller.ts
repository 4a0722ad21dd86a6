import { formatWayTarget, type OriginPlace, wayText } from '@longhaul/shared';
import { LruMap, Seldom } from '@longhaul/shared/service';
import type { TellingOutcome } from '../events.ts';
import { type DepotLine, DepotRequests } from './depot-requests.ts';

/** Notices under way at once; what is beyond is not told. A notice that comes late is of no use. */
const MOST_UNDER_WAY = 64;
/** Longer than any notice may be of use. */
const TELL_TIMEOUT_MS = 2_000;
/**
 * A notice costs up to 0.3 ms, twice as much as a redirect with a plan: so many in a second are a thirtieth
 * of a core.
 */
const MOST_PER_SECOND = 100;
/** Of them, those for clients of one network. */
const MOST_OF_NETWORK = 10;
const SECOND_MS = 1_000;
/** A depot that does not know the address of notices of ways is told none for so long. */
const UNKNOWN_MS = 600_000;
/**
 * Nor is one that cannot be reached, whose certificate nobody vouches for, or that refuses the notice, for so
 * long: that may be over soon.
 */
const UNHEARD_MS = 30_000;
const LEFT_ALONE_MS: Readonly<Record<TellingOutcome, number>> = {
  heard: 0,
  unheard: UNHEARD_MS,
  unknown: UNKNOWN_MS,
};
/** Depots remembered that do not hear. */
const MOST_DEAF = 10_000;

/** A client that has been sent to an entry depot. */
export interface SentClient {
  /** The ticket that it has been given. */
  readonly ticket: string;
  readonly origin: OriginPlace;
  /** Its network. */
  readonly network: string;
}

/** Since when a depot is left alone, and for how long. */
interface Deaf {
  readonly sinceMs: number;
  readonly forMs: number;
}

/**
 * Tells the entry depot of a plan which client is about to come, so that it makes the way to the origin while
 * that client is redirected. Nothing is repeated and no failure told, as with notices of plans; but only the
 * depot itself is told, by its certificate.
 */
export class WayTeller {
  readonly #now: () => number;
  readonly #depots: DepotRequests;
  readonly #rate: Seldom;
  readonly #rateOfNetwork: Seldom;
  readonly #onTold: (outcome: TellingOutcome) => void;
  #deaf = new LruMap<string, Deaf>(MOST_DEAF);

  constructor(
    line: DepotLine,
    authorities: readonly string[],
    onTold: (outcome: TellingOutcome) => void = () => undefined,
  ) {
    this.#now = line.now;
    this.#onTold = onTold;
    this.#rate = new Seldom(SECOND_MS, line.now, MOST_PER_SECOND);
    this.#rateOfNetwork = new Seldom(SECOND_MS, line.now, MOST_OF_NETWORK);
    this.#depots = new DepotRequests({
      ...line,
      most: MOST_UNDER_WAY,
      timeoutMs: TELL_TIMEOUT_MS,
      authorities,
    });
  }

  /** Tells `entry`, unless many are told already. Resolves when it is done; never rejects. */
  async tell(entry: string, { ticket, origin, network }: SentClient): Promise<void> {
    const timeMs = this.#now();
    const deaf = this.#deaf.get(entry);
    // Not until a time: that may be far off once the clock was set back.
    if (deaf && Math.abs(timeMs - deaf.sinceMs) < deaf.forMs) return;
    const depot = this.#depots.find(entry);
    if (!depot || this.#rateOfNetwork.take(network) === undefined || this.#rate.take('') === undefined)
      return;
    const notice = { ticket, origin, client: network, timeMs };
    let outcome: TellingOutcome = 'unheard';
    const path = formatWayTarget({ ...notice, ...this.#depots.sign(wayText(entry, notice)) });
    await this.#depots.get(depot, path, (answer) => {
      if (answer.statusCode === 204) outcome = 'heard';
      else if (answer.statusCode === 404) outcome = 'unknown';
      answer.resume();
    });
    this.#onTold(outcome);
    const forMs = LEFT_ALONE_MS[outcome];
    if (forMs > 0) this.#deaf.set(entry, { sinceMs: this.#now(), forMs });
  }

  /** Takes other authorities that vouch for depots. */
  renewAuthorities(authorities: readonly string[]): void {
    this.#depots.renewAuthorities(authorities);
    this.#deaf = new LruMap(MOST_DEAF);
  }

  close(): void {
    this.#depots.close();
  }
}
