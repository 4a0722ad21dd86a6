/** Tells each of several transfers that go on at the same time the emulator's worst lateness while it ran. */
export class LatenessOfEach {
  readonly #take: () => Promise<number>;
  readonly #running = new Set<{ worstMs: number }>();

  /** `take` gives the worst lateness since its last call. */
  constructor(take: () => Promise<number>) {
    this.#take = take;
  }

  /** A transfer begins; what this gives is called when it has ended. */
  async begin(): Promise<() => Promise<number>> {
    // What was late before is that of the others alone.
    await this.#tellAll();
    const own = { worstMs: 0 };
    this.#running.add(own);
    return async () => {
      await this.#tellAll();
      this.#running.delete(own);
      return own.worstMs;
    };
  }

  async #tellAll(): Promise<void> {
    const latenessMs = await this.#take();
    for (const one of this.#running) one.worstMs = Math.max(one.worstMs, latenessMs);
  }
}
