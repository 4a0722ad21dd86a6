/**
 * A signal that aborts when one of others does, or when it is late, until it is released. As `AbortSignal.any` and `AbortSignal.timeout`,
 * at a tenth of their cost: those leave weak references in signals that live as long as the depot, and a timer that runs on.
 */
export class JoinedSignal {
  readonly #over = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #onAbort: (event: Event) => void;
  readonly #timer: NodeJS.Timeout | undefined;

  /** With `lateMs` it also aborts by itself after so many milliseconds; that timer keeps no process alive. */
  constructor(sources: readonly AbortSignal[], lateMs?: number) {
    this.#sources = sources;
    this.#onAbort = ({ target }) => this.#abort((target as AbortSignal).reason);
    for (const source of sources) {
      source.addEventListener('abort', this.#onAbort);
      if (source.aborted) this.#abort(source.reason);
    }
    if (lateMs !== undefined && !this.signal.aborted)
      this.#timer = setTimeout(() => this.#abort(new Error('it took too long')), lateMs).unref();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** To be called when nobody needs it any more; the signal then stays as it is. */
  release(): void {
    clearTimeout(this.#timer);
    for (const source of this.#sources) source.removeEventListener('abort', this.#onAbort);
  }

  #abort(reason: unknown): void {
    this.release();
    this.#over.abort(reason);
  }
}
