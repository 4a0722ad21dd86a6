/** A master that could not be reached is not asked for so long, where there is another one. */
const AWAY_MS = 15_000;
/** Masters that are asked in turn for one exchange. */
const MOST_TRIES = 3;

interface MasterChoiceInit {
  /** Base URL of the master that this depot belongs to. */
  readonly home: string;
  /** Base URLs of all masters that are known. */
  readonly others: () => readonly string[];
  readonly nowMs: () => number;
}

/** Which master a depot speaks with: its own, and while that is away another one. */
export class MasterChoice {
  readonly #init: MasterChoiceInit;
  /** When masters failed last, by their URLs. */
  #failedAtMs = new Map<string, number>();
  /** Who answered last: of the others it is asked first. */
  #last: string | undefined;

  constructor(init: MasterChoiceInit) {
    this.#init = init;
  }

  /** Whom to ask in turn, one at least. */
  inTurn(): readonly string[] {
    const { home, others, nowMs } = this.#init;
    const now = nowMs();
    const known = [...new Set([home, ...(this.#last === undefined ? [] : [this.#last]), ...others()])];
    // What is no master any more is forgotten. The clock may have been set back.
    const away = [...this.#failedAtMs].filter(
      ([url, atMs]) => known.includes(url) && Math.abs(now - atMs) < AWAY_MS,
    );
    this.#failedAtMs = new Map(away);
    const there = known.filter((url) => !this.#failedAtMs.has(url));
    return (there.length > 0 ? there : known).slice(0, MOST_TRIES);
  }

  noteAnswer(url: string): void {
    this.#failedAtMs.delete(url);
    this.#last = url;
  }

  noteFailure(url: string): void {
    this.#failedAtMs.set(url, this.#init.nowMs());
  }
}
