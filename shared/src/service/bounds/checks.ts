interface ChecksInit {
  /** Looks at one thing; never rejects. */
  readonly check: (id: string) => Promise<void>;
  /** Between two looks at one thing. */
  readonly pauseMs: number;
  /** Things that are looked at in the same while; what is more is not looked at. */
  readonly most: number;
}

/**
 * Looks at things when somebody says that they have changed: at once, one look at a time, and again after a
 * pause where more was said.
 */
export class Checks {
  readonly #init: ChecksInit;
  /** What is looked at, or was a moment ago: whether it shall be looked at again. */
  readonly #things = new Map<string, { isAsked: boolean }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(init: ChecksInit) {
    this.#init = init;
  }

  /**
   * Has a thing looked at now, or after the pause that follows the last look. `false` where it is not, because
   * so many are.
   */
  ask(id: string): boolean {
    const known = this.#things.get(id);
    if (known) known.isAsked = true;
    else {
      if (this.#isClosed || this.#things.size >= this.#init.most) return false;
      const thing = { isAsked: true };
      this.#things.set(id, thing);
      this.#look(id, thing);
    }
    return true;
  }

  /** Nothing is looked at any more. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #look(id: string, thing: { isAsked: boolean }): void {
    if (!thing.isAsked || this.#isClosed) {
      this.#things.delete(id);
      return;
    }
    thing.isAsked = false;
    void this.#init.check(id).finally(() => {
      if (this.#isClosed) return;
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#look(id, thing);
      }, this.#init.pauseMs);
      timer.unref();
      this.#timers.add(timer);
    });
  }
}
