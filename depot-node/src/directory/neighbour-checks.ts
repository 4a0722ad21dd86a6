import type { DepotEntry } from '@longhaul/shared';
import { Checks } from '@longhaul/shared/service';

/** A neighbour that lives takes a connection within a round trip and two lost packets. */
const ANSWER_MS = 4_000;
/** Between two looks at one neighbour: connections between depots end all the time. */
const PAUSE_MS = 500;
/** Neighbours looked at in the same while. */
const MOST_CHECKS = 32;

interface NeighbourChecksInit {
  readonly findDepot: (id: string) => DepotEntry | undefined;
  /** Opens and closes a connection. */
  readonly probe: (depot: DepotEntry, signal: AbortSignal) => Promise<void>;
  readonly onUnreached: (id: string) => void;
}

/** Looks whether a neighbour is still there, whose connection has broken: a download that ends breaks some, a depot that ends all. */
export class NeighbourChecks {
  readonly #init: NeighbourChecksInit;
  readonly #checks = new Checks({ check: (id) => this.#check(id), pauseMs: PAUSE_MS, most: MOST_CHECKS });

  constructor(init: NeighbourChecksInit) {
    this.#init = init;
  }

  suspect(id: string): void {
    if (this.#init.findDepot(id)?.state === 'up') this.#checks.ask(id);
  }

  close(): void {
    this.#checks.close();
  }

  async #check(id: string): Promise<void> {
    const { findDepot, probe, onUnreached } = this.#init;
    const depot = findDepot(id);
    if (depot) await probe(depot, AbortSignal.timeout(ANSWER_MS)).catch(() => onUnreached(id));
  }
}
