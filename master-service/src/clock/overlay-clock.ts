/** A clock that differs by more from the steady one was set: none drifts so far between two looks. */
const SET_MS = 500;
/** One that was set by more is not followed at once. Tickets bear twelve times as much. */
const DOUBTED_MS = 5_000;
/** Depots send heartbeats once a second: all have spoken by then. */
const HEARING_MS = 3_000;
/** A depot that has not spoken for so long has no voice any more. */
const VOICE_MS = 10_000;
/** Where nobody has spoken for so long, a machine's own clock is all that there is. */
const SILENT_MS = 30_000;

interface OverlayClockInit {
  /** This machine's clock: Unix milliseconds. */
  readonly wallMs: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** The machine's clock was set by so much, and is not followed before depots agree with it. */
  readonly onDoubt: (byMs: number) => void;
  /** The time that counts was set by so much just now. */
  readonly onSet: (byMs: number) => void;
}

interface Voice {
  /** What it signed last: what was recorded before says nothing. */
  readonly timeMs: number;
  readonly heardMs: number;
  readonly isForSet: boolean;
}

/**
 * The time that a master goes by: its machine's, except after that was set far. Then the time before goes on,
 * until most of the depots that speak say that the new one is right: tickets by a wrong clock are refused
 * wherever they are shown, so that all downloads would fail. Who is right a machine that wakes up cannot
 * know, either.
 */
export class OverlayClock {
  readonly #init: OverlayClockInit;
  /** What the machine's clock, and the time that counts, were ahead of the steady one when it was looked at last. */
  #wallAheadMs: number;
  #aheadMs: number;
  /** The time before it was set, while that goes on. */
  #kept: { readonly aheadMs: number; readonly sinceMs: number } | undefined;
  readonly #voices = new Map<string, Voice>();

  constructor(init: OverlayClockInit) {
    this.#init = init;
    this.#wallAheadMs = init.wallMs() - init.steadyMs();
    this.#aheadMs = this.#wallAheadMs;
  }

  /** Whether depots are asked what time it is. */
  get isInDoubt(): boolean {
    return this.#kept !== undefined;
  }

  /** Unix milliseconds. */
  now(): number {
    const { wallMs, steadyMs, onDoubt, onSet } = this.#init;
    const nowMs = steadyMs();
    const aheadMs = wallMs() - nowMs;
    if (Math.abs(aheadMs - this.#wallAheadMs) > DOUBTED_MS) {
      this.#voices.clear();
      this.#kept = { aheadMs: this.#aheadMs, sinceMs: nowMs };
      // Set right again, it is followed at once.
      if (Math.abs(aheadMs - this.#aheadMs) <= DOUBTED_MS) this.#kept = undefined;
      else onDoubt(aheadMs - this.#aheadMs);
    }
    this.#wallAheadMs = aheadMs;
    if (this.#kept && this.#isOverruled(this.#kept.sinceMs, nowMs)) this.#kept = undefined;
    const byMs = (this.#kept?.aheadMs ?? aheadMs) - this.#aheadMs;
    this.#aheadMs += byMs;
    if (Math.abs(byMs) > SET_MS) onSet(byMs);
    return nowMs + this.#aheadMs;
  }

  /** A depot has signed this time. */
  hear(depotId: string, timeMs: number): void {
    const keptMs = this.now();
    if (!this.#kept || timeMs <= (this.#voices.get(depotId)?.timeMs ?? Number.NEGATIVE_INFINITY)) return;
    const heardMs = this.#init.steadyMs();
    const isForSet = Math.abs(timeMs - (heardMs + this.#wallAheadMs)) < Math.abs(timeMs - keptMs);
    this.#voices.set(depotId, { timeMs, heardMs, isForSet });
  }

  #isOverruled(sinceMs: number, nowMs: number): boolean {
    const heard = [...this.#voices.values()].filter(({ heardMs }) => nowMs - heardMs <= VOICE_MS);
    if (heard.length === 0) return nowMs - sinceMs > SILENT_MS;
    const forSet = heard.filter(({ isForSet }) => isForSet).length;
    return nowMs - sinceMs > HEARING_MS && forSet > heard.length / 2;
  }
}
