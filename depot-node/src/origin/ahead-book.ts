import { parseAuthority } from '@longhaul/shared';

/** How long an origin is remembered: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** Origins that are remembered at once; the one that was noted first is forgotten. */
const MOST_REMEMBERED = 1_000;

/** Connections of one origin that break within answers are no accident from so many on, so long apart at least, within so long: a depot that ends takes all of them along at once. */
const BREAKS = { most: 3, apartMs: 1_000, withinMs: 60_000 } as const;

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
  /** When connections broke, by origin. */
  readonly #breaks = new Map<string, number[]>();

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

  /**
   * Takes note of a connection that broke within an answer while further questions waited. Servers on Node's TLS do so where a question comes while much of an
   * answer waits to be sent. Gives whether it has happened too often for an accident: then the origin is one that has to be asked singly.
   */
  noteBreak(authority: string): boolean {
    const nowMs = this.#nowMs();
    const before = (this.#breaks.get(authority) ?? []).filter((atMs) => nowMs - atMs < BREAKS.withinMs);
    const last = before.at(-1);
    if (last !== undefined && nowMs - last < BREAKS.apartMs) return false;
    this.#breaks.delete(authority);
    if (before.length + 1 < BREAKS.most) {
      remember(this.#breaks, authority, [...before, nowMs]);
      return false;
    }
    this.note(authority, false);
    return true;
  }

  /** Takes note of what an origin has shown. What it cannot do weighs more than what it did before. */
  note(authority: string, isFit: boolean): void {
    if (isFit && this.#fresh(authority)) return;
    const place = parseAuthority(authority, null);
    if (place.ok) this.#onNoted(place.value.host, isFit);
    this.#notes.delete(authority);
    remember(this.#notes, authority, { isFit, atMs: this.#nowMs() });
  }

  #fresh(authority: string): Note | undefined {
    const note = this.#notes.get(authority);
    return note && this.#nowMs() - note.atMs < REMEMBERED_MS ? note : undefined;
  }
}

function remember<Value>(all: Map<string, Value>, authority: string, value: Value): void {
  all.set(authority, value);
  const [oldest] = all.keys();
  if (all.size > MOST_REMEMBERED && oldest !== undefined) all.delete(oldest);
}
