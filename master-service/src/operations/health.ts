/** A master that hears of no other one for so long begins alone. */
const ALONE_MS = 5_000;
/** The event loop is looked at so often. */
const LOOK_MS = 100;
/** Looks that come so late ... */
const LATE_MS = 500;
/** ... so often in a row are a master that cannot keep up; a single stall of the machine is none. */
const LATE_LOOKS = 3;
/** Who announces an address asks several times in this time. */
const FOLLOWED_MS = 10_000;

/** `starting`: what other masters know is still to come. `behind`: the event loop is late all the time. */
type HealthState = 'ready' | 'starting' | 'behind' | 'draining';

interface Draining {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout | undefined;
}

interface HealthInit {
  /** Whether other masters have told what they know, or there are none. */
  readonly hasCaughtUp: () => boolean;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
}

/**
 * Whether this master may be asked, and whether its address may be announced. What other masters, the bus and
 * depots do has no part in it once this master has begun: otherwise one fault of theirs would take the
 * address from every site at once.
 */
export class Health {
  readonly #init: HealthInit;
  readonly #startedAtMs: number;
  #lookedAtMs: number;
  #lateLooks = 0;
  #looking: NodeJS.Timeout | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #hasBegun = false;
  #draining: Draining | undefined;

  constructor(init: HealthInit) {
    this.#init = init;
    this.#startedAtMs = init.steadyMs();
    this.#lookedAtMs = this.#startedAtMs;
  }

  /** Whether somebody has lately asked for `anycast` or `readiness`: routes follow the answer, and need time to. */
  get isFollowed(): boolean {
    return this.#init.steadyMs() - this.#askedAtMs < FOLLOWED_MS;
  }

  /** Looks at the event loop until `close`. */
  start(): void {
    this.#lookedAtMs = this.#init.steadyMs();
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** Takes note of how late this look comes. */
  look(): void {
    const nowMs = this.#init.steadyMs();
    const isLate = nowMs - this.#lookedAtMs - LOOK_MS >= LATE_MS;
    this.#lateLooks = isLate ? this.#lateLooks + 1 : 0;
    this.#lookedAtMs = nowMs;
  }

  /** From now on both answers are `draining`. Resolves after this time; called again with less, after that. */
  drain(graceMs: number): Promise<void> {
    clearTimeout(this.#draining?.timer);
    const { promise, resolve } = this.#draining ?? Promise.withResolvers<void>();
    const timer = graceMs > 0 ? setTimeout(resolve, graceMs) : undefined;
    this.#draining = { promise, resolve, timer };
    if (!timer) resolve();
    return promise;
  }

  /** For what stands before one master, as a proxy does. */
  readiness(): HealthState {
    this.#askedAtMs = this.#init.steadyMs();
    return this.#ownState();
  }

  /** For what announces an address that other masters have, too. */
  anycast(): HealthState {
    this.#askedAtMs = this.#init.steadyMs();
    const state = this.#ownState();
    return state === 'ready' && this.#lateLooks >= LATE_LOOKS ? 'behind' : state;
  }

  #ownState(): HealthState {
    if (this.#draining) return 'draining';
    this.#hasBegun ||= this.#init.hasCaughtUp() || this.#init.steadyMs() - this.#startedAtMs >= ALONE_MS;
    return this.#hasBegun ? 'ready' : 'starting';
  }
}
