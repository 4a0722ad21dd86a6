/** Kinds told apart at once; when there are more, the oldest is forgotten, as if it had never happened. */
const MAX_KINDS = 1_000;

interface Kind {
  readonly sinceMs: number;
  letThrough: number;
  heldBack: number;
}

/** Lets events that others can cause into the log, one or a few of each kind in a while. */
export class Seldom {
  readonly #everyMs: number;
  readonly #nowMs: () => number;
  readonly #most: number;
  readonly #kinds = new Map<string, Kind>();

  /** `most` of each kind come through in `everyMs`. */
  constructor(everyMs: number, nowMs: () => number, most = 1) {
    this.#everyMs = everyMs;
    this.#nowMs = nowMs;
    this.#most = most;
  }

  /** How many of this kind were held back before this one, and not yet told of; `undefined` for one to hold back. */
  take(name: string): number | undefined {
    const nowMs = this.#nowMs();
    const kind = this.#kinds.get(name);
    if (kind && Math.abs(nowMs - kind.sinceMs) < this.#everyMs) {
      if (kind.letThrough < this.#most) {
        kind.letThrough += 1;
        return 0;
      }
      kind.heldBack += 1;
      return undefined;
    }
    this.#kinds.delete(name);
    this.#kinds.set(name, { sinceMs: nowMs, letThrough: 1, heldBack: 0 });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MAX_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
    return kind?.heldBack ?? 0;
  }
}
