export interface RepairTimeLimits {
  /** Longest time of one repair, once somebody has answered. */
  readonly repairMs: number;
  /** The same while nobody does. */
  readonly outageMs: number;
}

/**
 * An origin that asks for patience gets so much of it, however short repairs are else: the client has a part,
 * and would meet the same.
 */
const LONGEST_REST_MS = 600_000;

/**
 * How long a repair may take. Where the origin is out of reach over every way, nothing says that the rest
 * cannot be had, and plain TCP would wait, too: so it may take longer. What answers then has the usual time
 * from there on.
 */
export class RepairTime {
  readonly #limits: RepairTimeLimits;
  readonly #steadyMs: () => number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #isExtended = false;
  /** When somebody first asked to be left alone. */
  #restsFromMs: number | undefined;

  constructor(limits: RepairTimeLimits, steadyMs: () => number) {
    this.#limits = limits;
    this.#steadyMs = steadyMs;
    this.#endAfter(limits.repairMs);
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Whether nobody has answered so far. */
  get isOutage(): boolean {
    return !this.#isAnswered;
  }

  /** Whether it has taken longer than it may where somebody answers. */
  get isExtended(): boolean {
    return this.#isExtended;
  }

  /**
   * Whether an origin may be left alone for so much longer: who asks for a little again and again gets no
   * more in all.
   */
  mayRest(restMs: number): boolean {
    const nowMs = this.#steadyMs();
    return nowMs - (this.#restsFromMs ?? nowMs) + restMs <= LONGEST_REST_MS;
  }

  /** Notes that somebody has answered; where he asks to be left alone for a while, that comes on top. */
  noteAnswer(restMs = 0): void {
    this.#isAnswered = true;
    if (this.isOver || !(this.#isExtended || restMs > 0)) return;
    if (restMs > 0) this.#restsFromMs ??= this.#steadyMs();
    this.#isExtended = false;
    this.#endAfter(restMs + this.#limits.repairMs);
  }

  /** The repair has ended. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #endAfter(timeMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#extendOrEnd(), timeMs);
    this.#timer.unref();
  }

  #extendOrEnd(): void {
    const { outageMs, repairMs } = this.#limits;
    if (this.#isAnswered || this.#isExtended || outageMs <= repairMs) {
      this.#over.abort(new DOMException('the time for a repair is over', 'TimeoutError'));
      return;
    }
    this.#isExtended = true;
    this.#endAfter(outageMs - repairMs);
  }
}
