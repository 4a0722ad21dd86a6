/** What was asked of a relay thread and is still to be answered by a report, by its number. */
export class AwaitedReports<T> {
  readonly #resolves = new Map<number, (answer: T) => void>();

  get size(): number {
    return this.#resolves.size;
  }

  /** The answer to what is asked under this number. */
  answerTo(id: number): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#resolves.set(id, resolve);
    return promise;
  }

  settle(id: number, answer: T): void {
    this.#resolves.get(id)?.(answer);
    this.#resolves.delete(id);
  }

  /** No report comes any more. */
  settleAll(answer: T): void {
    for (const resolve of this.#resolves.values()) resolve(answer);
    this.#resolves.clear();
  }
}
