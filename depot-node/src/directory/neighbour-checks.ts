import type { DepotEntry } from '@longhaul/shared';
import { Checks, couldReachNobody, isOwnFault } from '@longhaul/shared/service';

/** A neighbour that lives takes a connection within a round trip and two lost packets. */
const ANSWER_MS = 4_000;
/** Between two looks at one neighbour: connections between depots end all the time. */
const PAUSE_MS = 500;
/**
 * One that is not there is looked at again after so long, then after twice as long, and so on, until it is:
 * the master leads nobody to it from here meanwhile.
 */
const FIRST_AGAIN_MS = 2_000;
const LAST_AGAIN_MS = 60_000;
/**
 * An own lack of a way there is told when it has lasted so long: then it is a family that this depot does not
 * have, which masters have to know. Of an own network that is away a master hears nothing anyway, and
 * heartbeats have failed by then.
 */
const LACK_LASTS_MS = 15_000;
/** Neighbours that are not there and are looked at again. */
const MOST_AWAY = 100;
/** Neighbours looked at in the same while. */
const MOST_CHECKS = 32;
/** One that is not looked at because so many are has its turn after so long: no slower than the others. */
const BUSY_AGAIN_MS = 1_000;

interface NeighbourChecksInit {
  readonly findDepot: (id: string) => DepotEntry | undefined;
  /** Opens and closes a connection. */
  readonly probe: (depot: DepotEntry, signal: AbortSignal) => Promise<void>;
  readonly onUnreached: (id: string) => void;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
}

/** One that is not there. */
interface Away {
  readonly timer: NodeJS.Timeout;
  /** Between the next look and the one after it. */
  readonly afterMs: number;
  /** Since when this depot lacks a way there itself. */
  readonly lackSinceMs: number | undefined;
}

/**
 * Looks whether a neighbour is still there, whose connection has broken: a download that ends breaks some, a
 * depot that ends all. One that is not is looked at until it is. What fails for want of something of this depot
 * says nothing of the neighbour.
 */
export class NeighbourChecks {
  readonly #init: NeighbourChecksInit;
  #isClosed = false;
  readonly #checks = new Checks({ check: (id) => this.#check(id), pauseMs: PAUSE_MS, most: MOST_CHECKS });

  /** When the next look comes at those that are not there. */
  readonly #away = new Map<string, Away>();

  constructor(init: NeighbourChecksInit) {
    this.#init = init;
  }

  suspect(id: string): void {
    if (this.#init.findDepot(id)?.state === 'up') this.#checks.ask(id);
  }

  /** Looks soon at all that are not there: what they were not reached for may have been this depot's own trouble. */
  lookAgain(): void {
    const ids = [...this.#away.keys()];
    for (const id of ids) this.#plan(id, 0, { afterMs: FIRST_AGAIN_MS, lackSinceMs: undefined });
  }

  close(): void {
    this.#checks.close();
    for (const { timer } of this.#away.values()) clearTimeout(timer);
    this.#away.clear();
    this.#isClosed = true;
  }

  async #check(id: string): Promise<void> {
    const { findDepot, probe, onUnreached, steadyMs } = this.#init;
    const depot = findDepot(id);
    // One that has left the overlay is nobody's neighbour.
    if (!depot) return this.#forget(id);
    await probe(depot, AbortSignal.timeout(ANSWER_MS)).then(
      () => this.#forget(id),
      (failure: unknown) => {
        if (couldReachNobody(failure)) return this.#plan(id, FIRST_AGAIN_MS);
        const isOwn = isOwnFault(failure);
        const { lackSinceMs = steadyMs() } = this.#away.get(id) ?? {};
        if (isOwn && steadyMs() - lackSinceMs < LACK_LASTS_MS)
          return this.#plan(id, FIRST_AGAIN_MS, { lackSinceMs });
        this.#backOff(id, isOwn ? lackSinceMs : undefined);
        onUnreached(id);
      },
    );
  }

  #backOff(id: string, lackSinceMs: number | undefined): void {
    const { afterMs = FIRST_AGAIN_MS } = this.#away.get(id) ?? {};
    this.#plan(id, afterMs, { lackSinceMs, afterMs: Math.min(2 * afterMs, LAST_AGAIN_MS) });
  }

  /** Plans the next look. Whoever looks meanwhile for another reason moves it. */
  #plan(id: string, inMs: number, changes: Partial<Omit<Away, 'timer'>> = {}): void {
    const before = this.#away.get(id) ?? { afterMs: FIRST_AGAIN_MS, lackSinceMs: undefined };
    this.#forget(id);
    if (this.#isClosed || this.#away.size >= MOST_AWAY) return;
    const look = () => {
      if (!this.#checks.ask(id)) this.#plan(id, BUSY_AGAIN_MS);
    };
    const timer = setTimeout(look, inMs).unref();
    this.#away.set(id, { ...before, ...changes, timer });
  }

  #forget(id: string): void {
    clearTimeout(this.#away.get(id)?.timer);
    this.#away.delete(id);
  }
}
