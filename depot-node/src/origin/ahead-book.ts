import { parseAuthority } from '@longhaul/shared';

/** How long an origin is remembered: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** Origins that are remembered at once; the one that was noted first is forgotten. */
const MOST_REMEMBERED = 1_000;

interface Note {
  readonly isFit: boolean;
  readonly atMs: number;
}

/**
 * Which origins have answered requests that were sent ahead, and which have shown that they cannot: those are asked one
 * thing at a time for a while. By authority, because servers behind one name are seldom told apart.
 */
export class AheadBook {
  readonly #nowMs: () => number;
  readonly #onNoted: (host: string, isFit: boolean) => void;
  readonly #notes = new Map<string, Note>();

  constructor(nowMs: () => number, onNoted: (host: string, isFit: boolean) => void = () => undefined) {
    this.#nowMs = nowMs;
    this.#onNoted = onNoted;
  }

  isFit(authority: string): boolean {
    return this.#fresh(authority)?.isFit === true;
  }

  isUnfit(authority: string): boolean {
    return this.#fresh(authority)?.isFit === false;
  }

  /** Takes note of what an origin has shown. What it cannot do weighs more than what it did before. */
  note(authority: string, isFit: boolean): void {
    if (isFit && this.#fresh(authority)) return;
    const place = parseAuthority(authority, null);
    if (place.ok) this.#onNoted(place.value.host, isFit);
    this.#notes.delete(authority);
    this.#notes.set(authority, { isFit, atMs: this.#nowMs() });
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > MOST_REMEMBERED && oldest !== undefined) this.#notes.delete(oldest);
  }

  #fresh(authority: string): Note | undefined {
    const note = this.#notes.get(authority);
    return note && this.#nowMs() - note.atMs < REMEMBERED_MS ? note : undefined;
  }
}
