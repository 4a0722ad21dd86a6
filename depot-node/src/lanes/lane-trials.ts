import { Stopwatch } from './stopwatch.ts';

/** TCP's rates swing: over less time than this two of them cannot be told apart. */
const TELLING_MS = 1000;
/** A lane that came back is kept while the whole is at least this part of what it was without it. */
const KEPT_PART = 0.85;

interface Mark {
  readonly bytes: number;
  readonly ms: number;
}

interface Trial {
  readonly bytesPerMsWithout: number;
  readonly since: Mark;
}

/**
 * Whether a lane that came back lowers the goodput of the whole: what all lanes bring with it is compared
 * with what they brought without it, between two changes of the lanes at work.
 */
export class LaneTrials {
  readonly #watch: Stopwatch;
  readonly #trials = new Map<number, Trial>();
  #bytes = 0;
  #changed: Mark = { bytes: 0, ms: 0 };

  constructor(nowMs: () => number) {
    this.#watch = new Stopwatch(nowMs);
  }

  /** Bytes that have come, over whichever lane. */
  noteBytes(sizeBytes: number): void {
    this.#bytes += sizeBytes;
  }

  /** Time in which the client reads nothing says nothing of lanes. */
  pause(): void {
    this.#watch.stop();
  }

  resume(): void {
    this.#watch.start();
  }

  /** A lane has gone or broken: what was measured before holds no longer. */
  noteChange(): void {
    this.#trials.clear();
    this.#changed = this.#mark();
  }

  /** A lane has come back. */
  begin(lane: number): void {
    const bytesPerMsWithout = this.#rateSince(this.#changed);
    this.noteChange();
    if (bytesPerMsWithout !== undefined) this.#trials.set(lane, { bytesPerMsWithout, since: this.#changed });
  }

  /** Judges a lane once its rate is known; `false` also where nothing can be said, and later when nothing could. */
  hasLowered(lane: number): boolean {
    const trial = this.#trials.get(lane);
    const rate = trial && this.#rateSince(trial.since);
    if (!trial || rate === undefined) return false;
    this.#trials.delete(lane);
    return rate < KEPT_PART * trial.bytesPerMsWithout;
  }

  #mark(): Mark {
    return { bytes: this.#bytes, ms: this.#watch.elapsedMs };
  }

  #rateSince({ bytes, ms }: Mark): number | undefined {
    const elapsedMs = this.#watch.elapsedMs - ms;
    return elapsedMs < TELLING_MS ? undefined : (this.#bytes - bytes) / elapsedMs;
  }
}
