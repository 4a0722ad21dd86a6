import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientPrefix } from '../../address-policy.ts';
import { FairRoom } from '../bounds/fair-room.ts';

/**
 * Requests that may wait behind the one that is answered: apt asks for ten at once, and whoever pipelines
 * downloads gains nothing by more.
 */
const MOST_WAITING_PER_CONNECTION = 16;
/** Requests that may wait on all connections, with heads of up to 32 KiB each. */
const MOST_WAITING = 1000;

/** The requests of one connection. */
interface Line {
  /** Those that are not answered to their end. */
  open: number;
  /** The answer that nothing waited before, until it has gone: a connection that rests must not hold on to it. */
  first: ServerResponse | undefined;
  /** Until the last of those behind it is answered; `undefined` where there is none. */
  last: Promise<void> | undefined;
}

/** One request of a connection at a time: pipelined requests wait for their turn, so that none of them holds a slot. */
export class Turns {
  readonly #lines = new WeakMap<object, Line>();
  readonly #waiting = new FairRoom(MOST_WAITING);

  /**
   * Serves a request when the answers to all that came before on this connection have gone. `serve` must not
   * reject. Gives `false`, and serves nothing, where too many wait: behind an answer that nobody reads they
   * would fill the memory.
   */
  take(request: IncomingMessage, response: ServerResponse, serve: () => Promise<void> | void): boolean {
    const connection = request.socket;
    const line = this.#lines.get(connection);
    if (!line || line.open === 0) {
      this.#serveFirst(connection, line, response, serve);
      return true;
    }
    if (line.open > MOST_WAITING_PER_CONNECTION) return false;
    const network = clientPrefix(connection.remoteAddress ?? '');
    if (!this.#waiting.take(network, 1)) return false;
    line.open += 1;
    const turn = async (before: Promise<void> | undefined) => {
      await before;
      this.#waiting.giveBack(network, 1);
      if (!connection.destroyed) await serve();
      await endOf(response, connection);
      line.open -= 1;
    };
    line.last = turn(line.last ?? (line.first && endOf(line.first, connection)));
    return true;
  }

  /**
   * Nothing waits before it, and most often nothing comes behind: then there is nobody to tell of its end but
   * the count.
   */
  #serveFirst(
    connection: Duplex,
    known: Line | undefined,
    response: ServerResponse,
    serve: () => Promise<void> | void,
  ): void {
    const line = known ?? { open: 0, first: response, last: undefined };
    if (!known) this.#lines.set(connection, line);
    line.open = 1;
    line.first = response;
    line.last = undefined;
    response.once('close', () => {
      line.open -= 1;
      line.first = undefined;
    });
    // Not at once: what came with it is taken in first, so that too many are seen as such.
    queueMicrotask(() => {
      if (!connection.destroyed) void serve();
    });
  }

  /** Whether a request of this connection has not been answered to its end. */
  isBusy(connection: Duplex): boolean {
    return (this.#lines.get(connection)?.open ?? 0) > 0;
  }
}

/**
 * Until the answer has gone to the client's kernel, or its connection has: an answer whose turn never came
 * does not close.
 */
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
