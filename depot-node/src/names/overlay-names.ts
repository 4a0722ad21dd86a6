import { afterWaiting } from '../racing/after-waiting.ts';
import { SharedLookUps, unlessAborted } from './shared-look-ups.ts';

/** The overlay's names looked up at once; the others wait. */
const MAX_LOOK_UPS = 50;
/** A name with addresses from before is waited for so long: a neighbour seldom moves, a chain is set up often. */
const PATIENCE_MS = 300;
/** Names whose last addresses are kept: more than an overlay has depots. */
const MAX_NAMES = 2_000;

/**
 * The names of masters and depots. They have room of their own, and keep their last addresses: an overlay whose DNS is
 * slow or dead works on.
 */
export class OverlayNames {
  readonly #ask: (host: string) => Promise<readonly string[]>;
  readonly #running = new SharedLookUps<readonly string[]>();
  readonly #last = new Map<string, readonly string[]>();
  readonly #waiting: (() => void)[] = [];
  #asking = 0;

  /** @param ask asks DNS for one name; has a deadline of its own. */
  constructor(ask: (host: string) => Promise<readonly string[]>) {
    this.#ask = ask;
  }

  /** The addresses of a name: new ones, or the last ones where DNS is late or fails. Rejects where there are none. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    // Whoever asks may go on with the last addresses: the look-up runs to its end all the same.
    const asked = this.#running.join(host, new AbortController().signal, () => this.#lookUp(host));
    const last = this.#last.get(host);
    return unlessAborted(signal, last ? within(PATIENCE_MS, asked, last) : asked);
  }

  async #lookUp(host: string): Promise<readonly string[]> {
    if (this.#asking >= MAX_LOOK_UPS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#asking += 1;
    try {
      const addresses = await this.#ask(host);
      this.#keep(host, addresses);
      return addresses;
    } finally {
      // The place goes to the next one, or is free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#asking -= 1;
    }
  }

  #keep(host: string, addresses: readonly string[]): void {
    this.#last.delete(host);
    this.#last.set(host, addresses);
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= MAX_NAMES) break;
      this.#last.delete(oldest);
    }
  }
}

/** The promise's value, or `fallback` where it fails or is late. */
function within<T>(patienceMs: number, promise: Promise<T>, fallback: T): Promise<T> {
  return new Promise((resolve) => {
    const stopWaiting = afterWaiting(patienceMs, () => resolve(fallback));
    promise.then(resolve, () => resolve(fallback)).finally(stopWaiting);
  });
}
