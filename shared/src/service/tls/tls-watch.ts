import type { Socket } from 'node:net';
import { endsOf } from '../connections/connection-limiter.ts';

/** How often all connections are looked at: who sends nothing is left after so long ... */
const LOOK_MS = 100;
/**
 * ... or as much later as it takes for the looks to be one percent of the time: each costs a quarter of a
 * microsecond a connection.
 */
const LOOK_SHARE = 0.01;
/**
 * Of TLS, with nothing inside yet: a client's handshake takes two or three kilobytes, and a record of 16 KiB
 * is read when it is whole.
 */
const MOST_EMPTY_BYTES = 24_576;
/** Bytes of TLS for each byte inside, from then on: a record has 22 of its own. */
const MOST_BYTES_EACH = 5;

interface Watched {
  readonly raw: Socket;
  /** What comes out of TLS, once it stands. */
  secured: Pick<Socket, 'bytesRead'> | undefined;
}

/**
 * Ends TLS connections, secured by Node, whose peers send records and next to nothing inside, such as new
 * keys without end: OpenSSL reads them by 64 KiB and more at once, which takes the event loop 10 to 17 ms for
 * each 1000, and says nothing of them to anybody. So it is seen afterwards, by what has come and what has
 * come out of it; a peer has what the kernel holds for it, once for each handshake.
 */
export class TlsWatch {
  readonly #watched = new Map<string, Watched>();
  #looking: NodeJS.Timeout | undefined;

  /** Looks after a connection that is about to be secured, until it closes. */
  add(raw: Socket): void {
    // It is gone already.
    if (raw.remoteAddress === undefined) return;
    const ends = endsOf(raw);
    const watched: Watched = { raw, secured: undefined };
    this.#watched.set(ends, watched);
    raw.once('close', () => {
      if (this.#watched.get(ends) === watched) this.#watched.delete(ends);
    });
    this.#lookIn(LOOK_MS);
  }

  /** Takes note of what secures a connection. */
  noteSecured(secured: Socket): void {
    const watched = this.#watched.get(endsOf(secured));
    if (watched) watched.secured = secured;
  }

  #look(): void {
    const beganMs = performance.now();
    for (const { raw, secured } of this.#watched.values()) {
      if (raw.bytesRead > MOST_EMPTY_BYTES + MOST_BYTES_EACH * (secured?.bytesRead ?? 0)) raw.destroy();
    }
    if (this.#watched.size > 0) this.#lookIn(Math.max(LOOK_MS, (performance.now() - beganMs) / LOOK_SHARE));
  }

  #lookIn(waitMs: number): void {
    if (this.#looking) return;
    this.#looking = setTimeout(() => {
      this.#looking = undefined;
      this.#look();
    }, waitMs).unref();
  }
}
