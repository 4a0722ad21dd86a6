/** Look-ups that run: askers for the same name share one, which ends with the last of them. */
export class SharedLookUps<Found> {
  readonly #running = new Map<string, Running<Found>>();

  has(host: string): boolean {
    return this.#running.has(host);
  }

  /**
   * Waits for the look-up of a name, begun by `begin` where none runs. Rejects with what the look-up fails
   * with, or with the signal's reason; `begin` must obey its signal.
   */
  join(host: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<Found>): Promise<Found> {
    const running = this.#running.get(host) ?? this.#begin(host, begin);
    running.askers += 1;
    return unlessAborted(signal, running.found).finally(() => {
      running.askers -= 1;
      if (running.askers === 0) this.#end(host, running);
    });
  }

  #begin(host: string, begin: (signal: AbortSignal) => Promise<Found>): Running<Found> {
    const abort = new AbortController();
    const running = { abort, found: begin(abort.signal), askers: 0 };
    this.#running.set(host, running);
    return running;
  }

  #end(host: string, running: Running<Found>): void {
    if (this.#running.get(host) === running) this.#running.delete(host);
    running.abort.abort();
  }
}

interface Running<Found> {
  readonly abort: AbortController;
  readonly found: Promise<Found>;
  askers: number;
}

/** The promise's value, unless the signal aborts first. */
export function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  });
}
