import type { PromisedDownload } from '../planning/plans/promised-download.ts';

/** Clients whose promises are remembered of one depot, about 150 bytes each: those of more would fill any line. */
const MOST_CLIENTS = 1_000;
/** What has ended is looked for so often: each plan asks every depot. */
const SAME_SUM_MS = 100;

/** So many downloads, and what they carry together, bits per second. */
export interface Load {
  readonly downloads: number;
  readonly bps: number;
}

interface Promised {
  readonly bps: number;
  readonly madeAtMs: number;
  readonly endsAtMs: number;
}

/**
 * What plans have led over a depot since it was heard last: it tells of that by its next heartbeat. Without
 * it a crowd that comes in between would all go the way that was free before. What one client is promised
 * crosses one line of its own: its downloads count one after the other.
 */
export class PromisedLoad {
  readonly #byClient = new Map<string, Promised>();
  #bps = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  note({ client, bps, seconds }: PromisedDownload, nowMs: number): void {
    const known = this.#byClient.get(client);
    if (!known && this.#byClient.size >= MOST_CLIENTS) return;
    const mostBps = Math.max(bps, known?.bps ?? 0);
    const endsAtMs = Math.max(nowMs, known?.endsAtMs ?? nowMs) + 1000 * seconds;
    this.#byClient.set(client, { bps: mostBps, madeAtMs: nowMs, endsAtMs });
    this.#bps += mostBps - (known?.bps ?? 0);
  }

  /** What of it runs now, of a depot that was heard last at `heardAtMs`. */
  since(heardAtMs: number, nowMs: number): Load {
    const isHeard = heardAtMs > this.#heardAtMs;
    if (isHeard || Math.abs(nowMs - this.#countedAtMs) >= SAME_SUM_MS) {
      this.#forgetPast(heardAtMs, nowMs);
      this.#heardAtMs = heardAtMs;
      this.#countedAtMs = nowMs;
    }
    return { downloads: this.#byClient.size, bps: this.#bps };
  }

  #forgetPast(heardAtMs: number, nowMs: number): void {
    let bps = 0;
    for (const [client, { madeAtMs, endsAtMs, bps: ownBps }] of this.#byClient) {
      // What was made later than now was so before the clock was set back.
      if (madeAtMs <= heardAtMs || endsAtMs <= nowMs || madeAtMs > nowMs) this.#byClient.delete(client);
      else bps += ownBps;
    }
    this.#bps = bps;
  }
}
