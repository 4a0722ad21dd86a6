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

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** How long downloads will still take, by what they did while somebody watched; by their prediction until then. */
export class TimesLeft {
  readonly #samples = new Map<string, readonly Sample[]>();

  /** Seconds until the end; `Infinity` while nothing comes, `undefined` where nobody knows how much is to come. */
  of({ key, bytesReceived, totalBytes, predictedSeconds }: Progress, nowMs: number): number | undefined {
    if (totalBytes === undefined) return undefined;
    const now = { atMs: nowMs, bytes: bytesReceived };
    const recent = (this.#samples.get(key) ?? []).filter(({ atMs }) => nowMs - atMs <= LOOK_BACK_MS);
    this.#samples.set(key, [...recent, now]);
    const first = recent[0] ?? now;
    const leftBytes = Math.max(0, totalBytes - bytesReceived);
    if (nowMs - first.atMs < LEAST_LOOK_MS) return predictedSeconds * (leftBytes / totalBytes);
    return (leftBytes * (nowMs - first.atMs)) / 1_000 / (bytesReceived - first.bytes);
  }
}
