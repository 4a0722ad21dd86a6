import { rateBpsOf } from '@longhaul/shared';

/** What was relayed longer ago than this says nothing about the rate any more. */
const WINDOW_SECONDS = 10;

interface Recent {
  /** Bytes of each second, at its place modulo the window. */
  readonly bytes: number[];
  lastSecond: number;
}

/** Rates of many, by key, over a sliding window of ten seconds. Who rests for longer is forgotten. */
export class RecentRate {
  readonly #nowSeconds: () => number;
  /** In the order of their last byte. */
  readonly #recent = new Map<string, Recent>();

  /** `nowSeconds` gives whole seconds. */
  constructor(nowSeconds: () => number) {
    this.#nowSeconds = nowSeconds;
  }

  note(key: string, bytes: number): void {
    const now = this.#nowSeconds();
    const recent = this.#recent.get(key) ?? {
      bytes: Array.from<number>({ length: WINDOW_SECONDS }).fill(0),
      lastSecond: now,
    };
    advance(recent, now);
    const place = recent.lastSecond % WINDOW_SECONDS;
    recent.bytes[place] = (recent.bytes[place] ?? 0) + bytes;
    this.#recent.delete(key);
    this.#recent.set(key, recent);
    this.#forgetResting(now);
  }

  /** Bits per second. */
  of(key: string): number {
    const recent = this.#recent.get(key);
    if (!recent) return 0;
    advance(recent, this.#nowSeconds());
    const sum = recent.bytes.reduce((before, bytes) => before + bytes, 0);
    return rateBpsOf(sum, WINDOW_SECONDS);
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#recent.size;
  }

  #forgetResting(now: number): void {
    for (const [key, recent] of this.#recent) {
      if (now - recent.lastSecond < WINDOW_SECONDS) return;
      this.#recent.delete(key);
    }
  }
}

/**
 * Empties the seconds that have passed since. A clock that was set back by less than the window counts as one
 * that stands still, until it has caught up; one that was set back further begins a new window.
 */
function advance(recent: Recent, now: number): void {
  const isSetBack = now <= recent.lastSecond - WINDOW_SECONDS;
  const passed = isSetBack ? WINDOW_SECONDS : Math.min(WINDOW_SECONDS, now - recent.lastSecond);
  for (let step = 0; step < passed; step += 1) recent.bytes[(now - step) % WINDOW_SECONDS] = 0;
  if (isSetBack || now > recent.lastSecond) recent.lastSecond = now;
}
