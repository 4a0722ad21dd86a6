import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { rawSocketOf } from './reset.ts';

interface SpokenConnection {
  /** What HTTP speaks over: the inside of a TLS connection, once a request has come. */
  stream: Duplex;
  /** Answers that it waits for. */
  answers: number;
}

/**
 * The connections of an HTTP server, which are kept between two requests. Node's own `close` breaks off every
 * answer that was written to its end but is still on its way, and lets those that end later keep their
 * connections.
 */
export class KeptConnections {
  readonly #server: Server;
  /** Those that speak HTTP, by the TCP connection below. */
  readonly #spoken = new Map<Duplex, SpokenConnection>();
  /** All that came through the listener, tunnels included. */
  readonly #open = new Set<Duplex>();
  #onEmpty: (() => void) | undefined;
  #isClosing = false;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Duplex) => {
      const raw = rawSocketOf(socket);
      if (raw.destroyed) return;
      this.#spoken.set(raw, { stream: raw, answers: 0 });
      this.#open.add(raw);
      raw.once('close', () => {
        this.#spoken.delete(raw);
        this.#open.delete(raw);
        if (this.#open.size === 0) this.#onEmpty?.();
      });
    });
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const spoken = this.#spoken.get(rawSocketOf(request.socket));
      if (!spoken) return;
      spoken.stream = request.socket;
      spoken.answers += 1;
      response.once('close', () => {
        spoken.answers -= 1;
        if (this.#isClosing) closeIfIdle(spoken);
      });
    });
    // A tunnel has its own end.
    server.prependListener('connect', (_: IncomingMessage, socket: Duplex) => {
      this.#spoken.delete(rawSocketOf(socket));
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
    for (const spoken of this.#spoken.values()) closeIfIdle(spoken);
    return Promise.all([closed, empty]).then(() => undefined);
  }

  /** Closes all that are still open, whatever they have not sent yet. */
  breakOff(): void {
    for (const raw of this.#open) raw.destroy();
  }
}

/** What was written last may still lie above the TCP connection, where others end its TLS: it closes behind that. */
function closeIfIdle({ stream, answers }: SpokenConnection): void {
  if (answers === 0) stream.destroy();
}
