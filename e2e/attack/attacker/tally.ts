/** A promise that did not hold, with what is needed to see it again. */
export interface Broken {
  readonly promise: string;
  /** The smallest case found, as text: bytes, a URL, an answer. */
  readonly replay: string;
}

/** What an attacker tells when it is over. */
export interface AttackerReport {
  readonly cases: number;
  /** What came of the cases, as the attacker saw it: codes of refusals, `served`, `closed` ... */
  readonly answers: Readonly<Record<string, number>>;
  readonly broken: readonly Broken[];
  /** URLs of honest origins that the attacker had tickets for. */
  readonly planned: readonly string[];
}

/** Many cases may break the same promise; the first ones say enough. */
const MOST_BROKEN = 5;
/** A replay longer than this is cut: seed and case find the rest again. */
const MOST_REPLAY_CHARS = 600;

/** Counts what an attacker does and what comes of it. */
export class Tally {
  #cases = 0;
  readonly #answers = new Map<string, number>();
  readonly #broken: Broken[] = [];
  readonly #planned = new Set<string>();

  /** One more case. */
  case(): void {
    this.#cases += 1;
  }

  /** What came of one. */
  answer(kind: string): void {
    this.#answers.set(kind, (this.#answers.get(kind) ?? 0) + 1);
  }

  broke(promise: string, replay: string): void {
    if (this.#broken.length < MOST_BROKEN)
      this.#broken.push({ promise, replay: replay.slice(0, MOST_REPLAY_CHARS) });
  }

  planned(url: string): void {
    this.#planned.add(url);
  }

  report(): AttackerReport {
    return {
      cases: this.#cases,
      answers: Object.fromEntries(this.#answers),
      broken: this.#broken,
      planned: [...this.#planned],
    };
  }
}
