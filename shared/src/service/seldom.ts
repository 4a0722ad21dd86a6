/** Kinds told apart at once; when there are more, the oldest is forgotten, as if it had never happened. */
const MAX_KINDS = 1_000;

interface Kind {
  readonly letThroughAtMs: number;
  heldBack: number;
}

/** Lets events that others can cause into the log, one of each kind in a while. */
export class Seldom {
  readonly #everyMs: number;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<string, Kind>();

  constructor(everyMs: number, nowMs: () => number) {
    this.#everyMs = everyMs;
    this.#nowMs = nowMs;
  }

  /** How many of this kind were held back since the last one that was let through; `undefined` for one to hold back. */
  take(name: string): number | undefined {
    const nowMs = this.#nowMs();
    const kind = this.#kinds.get(name);
    if (kind && Math.abs(nowMs - kind.letThroughAtMs) < this.#everyMs) {
      kind.heldBack += 1;
      return undefined;
    }
    this.#kinds.delete(name);
    this.#kinds.set(name, { letThroughAtMs: nowMs, heldBack: 0 });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MAX_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
    return kind?.heldBack ?? 0;
  }
}
