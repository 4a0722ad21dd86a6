/** One request of a connection at a time: pipelined requests wait for their turn, so that none of them holds a slot. */
export class Turns {
  readonly #last = new WeakMap<object, Promise<void>>();
  readonly #waiting = new WeakMap<object, number>();

  /** Serves when everything that came before on this connection is done. `serve` must not reject. */
  take(connection: object, serve: () => Promise<void>): void {
    this.#waiting.set(connection, this.#count(connection) + 1);
    const turn = (this.#last.get(connection) ?? Promise.resolve()).then(serve).finally(() => {
      this.#waiting.set(connection, this.#count(connection) - 1);
    });
    this.#last.set(connection, turn);
  }

  /** Whether a request of this connection has not been answered to its end. */
  isBusy(connection: object): boolean {
    return this.#count(connection) > 0;
  }

  #count(connection: object): number {
    return this.#waiting.get(connection) ?? 0;
  }
}
