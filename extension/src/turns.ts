/** Does one thing after the other: of two edits that read the same, one would be lost. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Does this when all before is over, be it well or not; gives what comes of it. */
  take<Value>(action: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
