/** What a download did in this time says how fast it is now. */
const LOOK_BACK_MS = 10_000;
/** Less says nothing: browsers tell of their bytes in lumps. */
const LEAST_LOOK_MS = 2_000;

/** What is known of a running download. */
export interface Progress {
  readonly key: string;
  readonly bytesReceived: number;
  readonly totalBytes: number | undefined;
  /** What the whole is predicted to take. */
  readonly predictedSeconds: number;
}

/** How fast a download is. */
export interface Pace {
  /** `undefined` until it was watched for two seconds. */
  readonly bytesPerSecond: number | undefined;
  /** Until the end; `Infinity` while nothing comes, `undefined` where nobody knows how much is to come. */
  readonly secondsLeft: number | undefined;
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** How long downloads will still take, by what they did while somebody watched; by their prediction until then. */
export class TimesLeft {
  readonly #samples = new Map<string, readonly Sample[]>();

  of({ key, bytesReceived, totalBytes, predictedSeconds }: Progress, nowMs: number): Pace {
    const now = { atMs: nowMs, bytes: bytesReceived };
    const known = this.#samples.get(key) ?? [];
    // One that was started again has fewer bytes than before.
    const recent = known.filter(({ atMs, bytes }) => nowMs - atMs <= LOOK_BACK_MS && bytes <= bytesReceived);
    this.#samples.set(key, [...recent, now]);
    const first = recent[0] ?? now;
    const watchedMs = nowMs - first.atMs;
    const bytesPerSecond =
      watchedMs < LEAST_LOOK_MS ? undefined : ((bytesReceived - first.bytes) * 1_000) / watchedMs;
    if (totalBytes === undefined) return { bytesPerSecond, secondsLeft: undefined };
    const leftBytes = Math.max(0, totalBytes - bytesReceived);
    const secondsLeft =
      bytesPerSecond === undefined ? predictedSeconds * (leftBytes / totalBytes) : leftBytes / bytesPerSecond;
    return { bytesPerSecond, secondsLeft };
  }
}
