import type { Mark } from './fact-message.ts';

/** Masters that tell facts: one for each site, and some that are gone. */
export const MOST_SOURCES = 512;

/**
 * Of these, masters that only others tell of: those that are gone, or cannot be heard. Who tells of them may
 * have invented them.
 */
const MOST_UNHEARD_SOURCES = 64;

/** Of each other source up to where everything is held that it has told and that still counts. */
export class FactMarks {
  readonly #hasSpoken: (source: string) => boolean;
  readonly #marks = new Map<string, Mark>();
  /** Sources that had not been heard themselves when they were looked at last. */
  readonly #unheard = new Set<string>();

  constructor(hasSpoken: (source: string) => boolean) {
    this.#hasSpoken = hasSpoken;
  }

  /** Whether facts of a source may be held: it is known, or there is room for one more. */
  admit(source: string): boolean {
    if (this.#marks.has(source)) return true;
    if (this.#marks.size >= MOST_SOURCES) return false;
    if (!this.#hasSpoken(source)) {
      if (this.#unheard.size >= MOST_UNHEARD_SOURCES) this.#forgetHeard();
      if (this.#unheard.size >= MOST_UNHEARD_SOURCES) return false;
      this.#unheard.add(source);
    }
    this.#marks.set(source, { source, epoch: 0, upTo: 0 });
    return true;
  }

  /**
   * Takes note that everything after one sequence up to another one is held, unless something before is
   * missing. In a new epoch something always may: the end of the one before.
   */
  advance({ source, epoch, after, upTo }: Mark & { readonly after: number }): void {
    const known = this.of(source);
    if (epoch !== known.epoch || after > known.upTo) return;
    this.#marks.set(source, { source, epoch, upTo: Math.max(known.upTo, upTo) });
  }

  /** Takes over what somebody holds, all of whose facts are held here now. */
  adopt(marks: readonly Mark[]): void {
    for (const { source, epoch, upTo } of marks) {
      if (!this.admit(source)) continue;
      const mark = { source, epoch, upTo };
      if (isBeyond(mark, this.of(source))) this.#marks.set(source, mark);
    }
  }

  /** Whether somebody who has the others holds more of any source. */
  isBehind(others: FactMarks): boolean {
    return [...others.#marks.values()].some((mark) => isBeyond(mark, this.of(mark.source)));
  }

  of(source: string): Mark {
    return this.#marks.get(source) ?? { source, epoch: 0, upTo: 0 };
  }

  /** All marks but that of one source. */
  allBut(own: string): Mark[] {
    return [...this.#marks.values()].filter(({ source }) => source !== own);
  }

  #forgetHeard(): void {
    for (const source of this.#unheard) if (this.#hasSpoken(source)) this.#unheard.delete(source);
  }
}

function isBeyond(one: Mark, other: Mark): boolean {
  return one.epoch === other.epoch ? one.upTo > other.upTo : one.epoch > other.epoch;
}
