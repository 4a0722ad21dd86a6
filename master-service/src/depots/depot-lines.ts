import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that brings a depot's heartbeats; one that the depot closes after each is none. */
interface Line {
  depot: string;
}

/** The connections over which depots are heard: the kernel of a machine whose depot has ended says so at once. */
export class DepotLines {
  readonly #lines = new WeakMap<Socket, Line>();
  readonly #onBroken: (depot: string) => void;

  /** `onBroken` is told when the depot's side has ended such a connection, or it broke. */
  constructor(onBroken: (depot: string) => void) {
    this.#onBroken = onBroken;
  }

  /** Takes note that an authenticated heartbeat came with this request. */
  note(depot: string, { socket, headers }: IncomingMessage): void {
    if (headers.connection?.toLowerCase() !== 'keep-alive') return;
    const known = this.#lines.get(socket);
    if (known) {
      known.depot = depot;
      return;
    }
    const line: Line = { depot };
    this.#lines.set(socket, line);
    let isTold = false;
    const tell = () => {
      if (!isTold) this.#onBroken(line.depot);
      isTold = true;
    };
    // Not `close`: this side closes connections that rest for too long.
    socket.once('end', tell);
    socket.once('error', tell);
  }
}
