import type { DepotEntry } from '@longhaul/shared';
import { Checks } from '@longhaul/shared/service';

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
/** Neighbours that are not there and are looked at again. */
const MOST_AWAY = 100;
/** Neighbours looked at in the same while. */
const MOST_CHECKS = 32;

interface NeighbourChecksInit {
  readonly findDepot: (id: string) => DepotEntry | undefined;
  /** Opens and closes a connection. */
  readonly probe: (depot: DepotEntry, signal: AbortSignal) => Promise<void>;
  readonly onUnreached: (id: string) => void;
}

/**
 * Looks whether a neighbour is still there, whose connection has broken: a download that ends breaks some, a
 * depot that ends all. One that is not is looked at until it is.
 */
export class NeighbourChecks {
  readonly #init: NeighbourChecksInit;
  #isClosed = false;
  readonly #checks = new Checks({ check: (id) => this.#check(id), pauseMs: PAUSE_MS, most: MOST_CHECKS });

  /** When the next look comes at those that are not there. */
  readonly #away = new Map<string, { readonly timer: NodeJS.Timeout; readonly afterMs: number }>();

  constructor(init: NeighbourChecksInit) {
    this.#init = init;
  }

  suspect(id: string): void {
    if (this.#init.findDepot(id)?.state === 'up') this.#checks.ask(id);
  }

  close(): void {
    this.#checks.close();
    for (const { timer } of this.#away.values()) clearTimeout(timer);
    this.#away.clear();
    this.#isClosed = true;
  }

  async #check(id: string): Promise<void> {
    const { findDepot, probe, onUnreached } = this.#init;
    const depot = findDepot(id);
    // One that has left the overlay is nobody's neighbour.
    if (!depot) return this.#forget(id);
    await probe(depot, AbortSignal.timeout(ANSWER_MS)).then(
      () => this.#forget(id),
      () => {
        this.#lookAgain(id);
        onUnreached(id);
      },
    );
  }

  #lookAgain(id: string): void {
    const { afterMs = FIRST_AGAIN_MS } = this.#away.get(id) ?? {};
    this.#forget(id);
    if (this.#isClosed || this.#away.size >= MOST_AWAY) return;
    // Whoever looks meanwhile for another reason moves the next look.
    const timer = setTimeout(() => this.#checks.ask(id), afterMs).unref();
    this.#away.set(id, { timer, afterMs: Math.min(2 * afterMs, LAST_AGAIN_MS) });
  }

  #forget(id: string): void {
    clearTimeout(this.#away.get(id)?.timer);
    this.#away.delete(id);
  }
}
