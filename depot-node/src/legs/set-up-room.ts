import { LonghaulError } from '@longhaul/shared';
import { FairRoom, TurnQuota } from '@longhaul/shared/service';

/**
 * Chains that begin in one turn of the event loop: each costs up to two milliseconds, and others shall not
 * wait for a crowd's.
 */
export const BEGINNINGS_PER_TURN = 4;

/** Who waits for room to build a chain. */
interface Waiter {
  readonly client: string;
  readonly enter: () => void;
}

/**
 * Room for chains that are being built at once; of it one client network has no more than it leaves free.
 * Whoever finds none waits for some: a chain stands within a few round trips. There are no more who wait than
 * downloads and lanes that were admitted.
 */
export class SetUpRoom {
  readonly #room: FairRoom;
  readonly #longestMs: number;
  /** Those whose download has nothing yet, and behind them those that have a connection. */
  readonly #first = new Set<Waiter>();
  readonly #further = new Set<Waiter>();
  readonly #beginnings = new TurnQuota(BEGINNINGS_PER_TURN, () => this.#letIn());

  /** A place is waited for so long at most. */
  constructor(capacity: number, longestMs: number) {
    this.#room = new FairRoom(capacity);
    this.#longestMs = longestMs;
  }

  /**
   * Takes a place, and gives what gives it back. Throws `client-busy` when there was none in time, and the
   * reason of an abort.
   */
  async enter(client: string, isFurther: boolean, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const waiting = isFurther ? this.#further : this.#first;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isIn = false;
    const waiter = {
      client,
      enter: () => {
        isIn = true;
        resolve();
      },
    };
    waiting.add(waiter);
    this.#letIn();
    if (!isIn) {
      const giveUp = (reason: unknown) => {
        if (isIn) return;
        waiting.delete(waiter);
        reject(reason);
      };
      const timer = setTimeout(
        () => giveUp(new LonghaulError('client-busy', { detail: 'too many chains are being built' })),
        this.#longestMs,
      );
      const onAbort = () => giveUp(signal.reason);
      signal.addEventListener('abort', onAbort);
      await promise.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      });
    }
    return () => {
      this.#room.giveBack(client, 1);
      this.#letIn();
    };
  }

  /** Lets those in for whom there is room, in the order in which they came. */
  #letIn(): void {
    const full = new Set<string>();
    for (const waiting of [this.#first, this.#further]) {
      for (const waiter of waiting) {
        if (this.#room.used === this.#room.capacity || this.#beginnings.isUsedUp) return;
        if (full.has(waiter.client)) continue;
        if (this.#room.take(waiter.client, 1)) {
          waiting.delete(waiter);
          this.#beginnings.use();
          waiter.enter();
        } else full.add(waiter.client);
      }
    }
  }
}
