import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientPrefix } from '../address-policy.ts';
import { FairRoom } from './fair-room.ts';

/** Requests that may wait behind the one that is answered: apt asks for ten at once, and whoever pipelines downloads gains nothing by more. */
const MOST_WAITING_PER_CONNECTION = 16;
/** Requests that may wait on all connections, with heads of up to 32 KiB each. */
const MOST_WAITING = 1000;

/** One request of a connection at a time: pipelined requests wait for their turn, so that none of them holds a slot. */
export class Turns {
  readonly #last = new WeakMap<object, Promise<void>>();
  readonly #open = new WeakMap<object, number>();
  readonly #waiting = new FairRoom(MOST_WAITING);

  /**
   * Serves a request when the answers to all that came before on this connection have gone. `serve` must not reject. Gives
   * `false`, and serves nothing, where too many wait: behind an answer that nobody reads they would fill the memory.
   */
  take(request: IncomingMessage, response: ServerResponse, serve: () => Promise<void> | void): boolean {
    const connection = request.socket;
    const before = this.#count(connection);
    if (before === 0) {
      this.#open.set(connection, 1);
      this.#serveFirst(connection, response, serve);
      return true;
    }
    if (before > MOST_WAITING_PER_CONNECTION) return false;
    const network = clientPrefix(connection.remoteAddress ?? '');
    if (!this.#waiting.take(network, 1)) return false;
    this.#open.set(connection, before + 1);
    const turn = async () => {
      await this.#last.get(connection);
      this.#waiting.giveBack(network, 1);
      if (!connection.destroyed) await serve();
      await endOf(response, connection);
      this.#open.set(connection, this.#count(connection) - 1);
    };
    this.#last.set(connection, turn());
    return true;
  }

  /** Nothing waits before it, and most often nothing comes behind: then there is nobody to tell of its end but the count. */
  #serveFirst(connection: Duplex, response: ServerResponse, serve: () => Promise<void> | void): void {
    const ended = new Promise<void>((resolve) => {
      response.once('close', () => {
        resolve();
        this.#open.set(connection, this.#count(connection) - 1);
      });
    });
    this.#last.set(connection, ended);
    // Not at once: what came with it is taken in first, so that too many are seen as such.
    queueMicrotask(() => {
      if (!connection.destroyed) void serve();
    });
  }

  /** Whether a request of this connection has not been answered to its end. */
  isBusy(connection: Duplex): boolean {
    return this.#count(connection) > 0;
  }

  #count(connection: object): number {
    return this.#open.get(connection) ?? 0;
  }
}

/** Until the answer has gone to the client's kernel, or its connection has: an answer whose turn never came does not close. */
function endOf(response: ServerResponse, connection: Duplex): Promise<void> {
  if (response.closed || connection.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      response.off('close', settle);
      connection.off('close', settle);
      resolve();
    };
    response.once('close', settle);
    connection.once('close', settle);
  });
}
