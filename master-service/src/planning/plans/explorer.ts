import { clientAddress } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { Exploring } from '../decision/choose-to-learn.ts';

/**
 * Where a depot may be much nearer to a client, so many times as many, which may take longer by so many times
 * as much: one tells for all of its network, and for a week.
 */
const TO_MEET_TIMES = { share: 5, mostRegret: 2 } as const;
/** Clients of whom is remembered whether their last download was used to learn. */
const MOST_CLIENTS = 20_000;

interface ExplorerInit {
  /** Of downloads that may be used to learn; 0 never. */
  readonly share: number;
  readonly mostRegret: number;
  /** 0 to below 1, evenly. */
  readonly random?: () => number;
}

/** Chooses the downloads that the planner may learn by: a small share, and never two of one client in a row. */
export class Explorer {
  readonly #init: ExplorerInit;
  /** Clients whose last download was used. */
  readonly #used = new LruMap<string, boolean>(MOST_CLIENTS);

  constructor(init: ExplorerInit) {
    this.#init = init;
  }

  /** What the planner may do with the next download of a client; `undefined` for nothing. */
  next(address: string): Exploring | undefined {
    const { share, mostRegret, random = Math.random } = this.#init;
    const drawn = random();
    if (drawn >= TO_MEET_TIMES.share * share || this.#used.get(clientAddress(address))) return undefined;
    if (drawn < share) return { mostRegret };
    return { mostRegret: TO_MEET_TIMES.mostRegret * mostRegret, isToMeet: true };
  }

  /** Notes whether a download that was planned for a client was used. */
  note(address: string, wasUsed: boolean): void {
    const client = clientAddress(address);
    // Only who was used, or may have been, has to be known.
    if (wasUsed || this.#used.get(client)) this.#used.set(client, wasUsed);
  }
}
