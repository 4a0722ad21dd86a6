import type { Duplex } from 'node:stream';
import { TurnQuota } from '@longhaul/shared/service';
import { BEGINNINGS_PER_TURN } from '../legs/set-up-room.ts';

/**
 * Downloads and tunnels that begin in one turn of the event loop: to read and check one takes up to a
 * millisecond. No more than chains that begin in one, or these would wait once more, and there in the order
 * in which they came.
 */
const DOWNLOADS_PER_TURN = BEGINNINGS_PER_TURN;

/**
 * Has downloads and tunnels begin a few in each turn of the event loop: a crowd may be read in one, and
 * whoever asks for less than a download shall not wait for all of it. Those of one network begin in the order
 * in which they came, and the networks take turns. No more wait than there are connections, which have bounds
 * of their own.
 */
export class Beginnings {
  readonly #quota = new TurnQuota(DOWNLOADS_PER_TURN, () => this.#letIn());
  /** What begins those that wait, by network; the one whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Serves a connection's request when it is its network's turn, at once where nobody waits, and never when
   * it has closed by then.
   */
  take(network: string, connection: Duplex, serve: () => Promise<void>): Promise<void> {
    // As long as some wait, there is nothing left of this turn.
    if (!this.#quota.isUsedUp) {
      this.#quota.use();
      return serve();
    }
    const waiting = this.#waiting.get(network) ?? new Set();
    this.#waiting.set(network, waiting);
    return new Promise((resolve) => {
      const stopWaiting = () => {
        waiting.delete(begin);
        connection.off('close', leave).off('error', leave);
      };
      const leave = () => {
        stopWaiting();
        resolve();
      };
      const begin = () => {
        stopWaiting();
        resolve(serve());
      };
      waiting.add(begin);
      // Of a tunnel that is asked for nobody else listens to errors yet.
      connection.on('close', leave).on('error', leave);
    });
  }

  #letIn(): void {
    // A network that has had its turn is put behind all others, and met again.
    for (const [network, waiting] of this.#waiting) {
      if (this.#quota.isUsedUp) return;
      this.#waiting.delete(network);
      const [begin] = waiting;
      if (!begin) continue;
      if (waiting.size > 1) this.#waiting.set(network, waiting);
      this.#quota.use();
      begin();
    }
  }
}
