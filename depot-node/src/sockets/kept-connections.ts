import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { rawSocketOf } from './reset.ts';

/**
 * The connections of an HTTP server, which are kept between two requests. Node's own `close` breaks off every answer that
 * was written to its end but is still on its way, and lets those that end later keep their connections.
 */
export class KeptConnections {
  readonly #server: Server;
  /** TCP connections that speak HTTP, with the number of answers that they wait for. */
  readonly #answers = new Map<Duplex, number>();
  /** All that came through the listener, tunnels included. */
  readonly #open = new Set<Duplex>();
  #onEmpty: (() => void) | undefined;
  #isClosing = false;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Duplex) => {
      const raw = rawSocketOf(socket);
      if (raw.destroyed) return;
      this.#answers.set(raw, 0);
      this.#open.add(raw);
      raw.once('close', () => {
        this.#answers.delete(raw);
        this.#open.delete(raw);
        if (this.#open.size === 0) this.#onEmpty?.();
      });
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const raw = rawSocketOf(request.socket);
      this.#count(raw, 1);
      response.once('close', () => this.#count(raw, -1));
    });
    // A tunnel has its own end.
    server.prependListener('connect', (_: IncomingMessage, socket: Duplex) => {
      this.#answers.delete(rawSocketOf(socket));
    });
  }

  /** Accepts nothing more, closes each connection once it waits for no answer; resolves when all are closed. */
  close(): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.#server, () => resolve()),
    );
    // Node's server knows only those that it has accepted itself.
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#open.size === 0) resolve();
    });
    for (const [raw, answers] of this.#answers) if (answers === 0) raw.destroy();
    return Promise.all([closed, empty]).then(() => undefined);
  }

  #count(raw: Duplex, change: 1 | -1): void {
    const before = this.#answers.get(raw);
    if (before === undefined) return;
    this.#answers.set(raw, before + change);
    if (this.#isClosing && before + change === 0) raw.destroy();
  }
}
