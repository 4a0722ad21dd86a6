/**
 * An abort controller that others abort, too, until it is left. In place of `AbortSignal.any`, which leaves
 * weak references in each of them: in signals that live long, such as a download's, these cost more than what
 * is done.
 */
export class LinkedAbort extends AbortController {
  readonly #others: readonly AbortSignal[];

  constructor(...others: readonly AbortSignal[]) {
    super();
    this.#others = others;
    for (const other of others) {
      other.addEventListener('abort', this.#onAbort);
      if (other.aborted) this.#onAbort();
    }
  }

  /** Others abort it no more; to be called when what it is for has ended. */
  leave(): void {
    for (const other of this.#others) other.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = () => this.abort(this.#others.find(({ aborted }) => aborted)?.reason);
}
