import { FairRoom } from '@longhaul/shared/service';

/** The lanes that a download may have. */
export interface TransferLanes {
  readonly count: number;
  /** To be called when the download has ended. */
  readonly leave: () => void;
}

/**
 * The connections that lanes have beside the first one of each download: so many over all transfers, and for
 * one client network no more than it leaves free. Whoever comes late has fewer lanes, one at least; that is
 * no refusal.
 */
export class LanePlaces {
  readonly #room: FairRoom;

  constructor(most: number) {
    this.#room = new FairRoom(most);
  }

  /** Lanes for one more download of this client network, at most as many as it wants. */
  enter(network: string, wanted: number): TransferLanes {
    let count = 1;
    while (count < wanted && this.#room.take(network, 1)) count += 1;
    return { count, leave: () => this.#room.giveBack(network, count - 1) };
  }
}
