import type { FigureSource } from '@longhaul/shared';
import type { Job } from '../jobs/job.ts';

/** A download that came through the add-on, and is whole. No address: only what the user sees. */
export interface PastDownload {
  readonly name: string;
  readonly doneAtMs: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly predictedSeconds: number;
  readonly directSeconds: number;
  readonly directSource?: FigureSource;
  readonly chain: readonly string[];
  /** The user has paused it, or the machine slept through it: its time says nothing. */
  readonly wasPaused?: true;
}

/** All of them together since `sinceMs`, also those that the list has forgotten. */
export interface Totals {
  readonly sinceMs: number;
  readonly count: number;
  readonly bytes: number;
  /** Without those that the user has paused, or through which the machine slept: their time says nothing. */
  readonly seconds: number;
  readonly directSeconds: number;
}

export interface History {
  /** The newest first. */
  readonly downloads: readonly PastDownload[];
  readonly totals: Totals | undefined;
}

/** Downloads in the list; a year of one a day would be more than anybody reads. */
export const KEPT_DOWNLOADS = 100;
/** Characters of a name that are kept. */
const KEPT_NAME = 200;

export const NO_HISTORY: History = { downloads: [], totals: undefined };

/**
 * The history with one more job that is whole. One that came directly in the end proves nothing and is left
 * out of it.
 */
export function withJob(history: History, job: Job): History {
  if (job.way !== 'chain') return history;
  const { name, bytes, startedAtMs, doneAtMs = startedAtMs, predictedSeconds, directSeconds, chain } = job;
  const seconds = Math.max(0, doneAtMs - startedAtMs) / 1_000;
  const past: PastDownload = {
    name: name.slice(0, KEPT_NAME),
    doneAtMs,
    bytes,
    seconds,
    predictedSeconds,
    directSeconds,
    directSource: job.directSource,
    chain,
    ...(job.wasPaused ? { wasPaused: true } : {}),
  };
  const before = history.totals ?? { sinceMs: startedAtMs, count: 0, bytes: 0, seconds: 0, directSeconds: 0 };
  return {
    downloads: [past, ...history.downloads].slice(0, KEPT_DOWNLOADS),
    totals: {
      sinceMs: Math.min(before.sinceMs, startedAtMs),
      count: before.count + 1,
      bytes: before.bytes + bytes,
      seconds: before.seconds + (job.wasPaused ? 0 : seconds),
      directSeconds: before.directSeconds + (job.wasPaused ? 0 : directSeconds),
    },
  };
}
