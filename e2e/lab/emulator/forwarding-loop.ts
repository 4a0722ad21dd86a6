import type { Forwarder } from './forwarder.ts';
import type { Kernel } from './kernel.ts';

/**
 * Under traffic the loop looks at its devices so often, in milliseconds, instead of waking for each packet:
 * less than what a wake costs then, and the error of a delay.
 */
const TICK_MS = 0.1;
/**
 * After so many turns in a row, each within two ticks of the one before, there is traffic; an echo and its
 * answer are not.
 */
const QUICK_TURNS_BEFORE_TICKS = 16;
/** Longest sleep: a wake once in a while costs nothing. */
const LONGEST_SLEEP_MS = 1000;
/** struct pollfd: a descriptor of 32 bits, then wanted and returned events of 16. */
const POLLFD_WORDS = 2;
const POLLIN = 1;
const POLL_ERRORS = 0x08 | 0x10 | 0x20;

/** Sleeps until there is something to do, by one `ppoll`. */
export class Sleeper {
  readonly #kernel: Kernel;
  readonly #pollfds: Int32Array;
  readonly #timeout = new Int32Array(new ArrayBuffer(128));
  readonly #pollfdsAddress: number;
  readonly #timeoutAddress: number;
  readonly #count: number;

  /** The first descriptor is the control's, the others are the devices'. */
  constructor(kernel: Kernel, descriptors: readonly number[]) {
    this.#kernel = kernel;
    this.#count = descriptors.length;
    this.#pollfds = new Int32Array(new ArrayBuffer(Math.max(128, descriptors.length * 4 * POLLFD_WORDS)));
    for (const [index, descriptor] of descriptors.entries()) {
      this.#pollfds[index * POLLFD_WORDS] = descriptor;
      this.#pollfds[index * POLLFD_WORDS + 1] = POLLIN;
    }
    this.#pollfdsAddress = kernel.addressOf(this.#pollfds.buffer as ArrayBuffer);
    this.#timeoutAddress = kernel.addressOf(this.#timeout.buffer);
  }

  /** Until control has something to say, or the time is over; with `includeDevices` also until a packet arrives. */
  sleep(ms: number, includeDevices: boolean): void {
    const shortMs = Math.min(Math.max(ms, 0), LONGEST_SLEEP_MS);
    const seconds = Math.floor(shortMs / 1000);
    this.#timeout[0] = seconds;
    this.#timeout[2] = Math.round((shortMs - seconds * 1000) * 1e6);
    this.#pollfds[1] = POLLIN;
    const ready = this.#kernel.poll(
      this.#pollfdsAddress,
      includeDevices ? this.#count : 1,
      this.#timeoutAddress,
    );
    if (ready > 0 && includeDevices) this.#forgetGone();
  }

  get isControlReady(): boolean {
    return (this.#pollfds[1] ?? 0) >>> 16 !== 0;
  }

  /** A device that went away with its namespace would be ready for ever. */
  #forgetGone(): void {
    for (let index = 1; index < this.#count; index += 1) {
      const events = (this.#pollfds[index * POLLFD_WORDS + 1] ?? 0) >>> 16;
      if ((events & POLL_ERRORS) !== 0) this.#pollfds[index * POLLFD_WORDS] = -1;
    }
  }
}

/** How long packets may have waited in devices that nobody looked at, at worst. */
export class IntakeStalls {
  #worstMs = 0;

  note(ms: number): void {
    if (ms > this.#worstMs) this.#worstMs = ms;
  }

  /** The worst so far, in milliseconds, and starts anew. */
  take(): number {
    const worstMs = this.#worstMs;
    this.#worstMs = 0;
    return worstMs;
  }
}

/** Moves packets until `onControl`, called when control has something to say, returns false. */
export function forward(
  forwarders: readonly Forwarder[],
  sleeper: Sleeper,
  stalls: IntakeStalls,
  onControl: () => boolean,
): void {
  let quickTurns = 0;
  let lastTurnMs = 0;
  let wasTicking = false;
  for (;;) {
    let moved = 0;
    let nextDueMs = Number.POSITIVE_INFINITY;
    const turnMs = performance.now();
    for (const forwarder of forwarders) moved += forwarder.handOut() + forwarder.takeIn(performance.now());
    for (const { direction } of forwarders) nextDueMs = Math.min(nextDueMs, direction.nextDueMs);
    // Between ticks nothing wakes the loop: what is later than a tick is a stall, and packets have waited for it.
    if (wasTicking) stalls.note(turnMs - lastTurnMs - TICK_MS);
    quickTurns = moved > 0 && turnMs - lastTurnMs < 2 * TICK_MS ? quickTurns + 1 : 0;
    lastTurnMs = turnMs;

    const isTicking = quickTurns >= QUICK_TURNS_BEFORE_TICKS;
    wasTicking = isTicking;
    const nowMs = performance.now();
    sleeper.sleep(isTicking ? turnMs + TICK_MS - nowMs : nextDueMs - nowMs, !isTicking);
    if (sleeper.isControlReady && !onControl()) return;
  }
}
