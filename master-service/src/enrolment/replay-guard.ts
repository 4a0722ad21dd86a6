import { CLOCK_SKEW_SECONDS, type RequestStamp } from '@longhaul/shared';

/** Requests that may be overtaken by newer ones on their way: a depot asks for as many follow-ups at once at most. */
const WINDOW = 1024;
/** Processes of one depot that are remembered: one that fails at its start is started again many times a minute. */
const MAX_EPOCHS = 64;
/** A recorded request is refused for its time once this has passed, whichever way the clocks differed. */
const REPLAYABLE_MS = 2 * CLOCK_SKEW_SECONDS * 1000;

interface Epoch {
  highest: number;
  readonly seen: Set<number>;
  heardAtMs: number;
}

/** Tells whether a depot's requests are here for the first time, by epoch and sequence; its clock may jump. */
export class ReplayGuard {
  /** In the order in which they were first heard of. */
  readonly #epochs = new Map<string, Epoch>();

  /** Takes note of an authenticated and fresh request; `false` when it was here before, or is too old to tell. */
  take({ epoch, sequence }: RequestStamp, nowMs: number): boolean {
    const known = this.#epochs.get(epoch) ?? this.#add(epoch, nowMs);
    if (known.seen.has(sequence) || sequence <= known.highest - WINDOW) return false;
    known.seen.add(sequence);
    known.highest = Math.max(known.highest, sequence);
    known.heardAtMs = nowMs;
    for (const old of known.seen.size > 2 * WINDOW ? [...known.seen] : []) {
      if (old <= known.highest - WINDOW) known.seen.delete(old);
    }
    return true;
  }

  #add(epoch: string, nowMs: number): Epoch {
    for (const [name, { heardAtMs }] of this.#epochs) {
      const isOver = Math.abs(nowMs - heardAtMs) > REPLAYABLE_MS;
      if (isOver || this.#epochs.size >= MAX_EPOCHS) this.#epochs.delete(name);
    }
    const added: Epoch = { highest: 0, seen: new Set(), heardAtMs: nowMs };
    this.#epochs.set(epoch, added);
    return added;
  }
}
