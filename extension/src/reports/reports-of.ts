import type { FeedbackRequest } from '@longhaul/shared';
import type { Job } from '../jobs/job.ts';

/** A way was slow indeed when the one after it brought so many times its rate: else the user's own line was. */
const CLEARLY_FASTER = 2;

/**
 * What a job that is whole tells the master of its plans: what the chain gave, or that the one which was left
 * was slow. Nothing of what says nothing about depots: a download that broke, began again, was paused, or
 * went where the user wanted.
 */
export function reportsOf(job: Job): readonly FeedbackRequest[] {
  const { state, jobId, lastChange, doneAtMs, startedAtMs, bytes } = job;
  const isSmooth = (job.breaks ?? 0) === 0 && job.restarts === 0 && !job.wasPaused && !lastChange?.isAsked;
  if (state !== 'done' || doneAtMs === undefined || !isSmooth) return [];
  if (lastChange) {
    const { jobId: left, rateBps, bytes: bytesThen = 0, atMs, chain, servedBy } = lastChange;
    const rateSince = ((bytes - bytesThen) * 8_000) / Math.max(1, doneAtMs - atMs);
    const wasSlow = rateBps !== undefined && rateSince >= CLEARLY_FASTER * rateBps;
    // Of an entry group another depot may have been it; the planned one is then not to blame.
    const depot = servedBy && servedBy !== chain[0] ? { depot: servedBy } : {};
    return left !== undefined && wasSlow ? [{ jobId: left, verdict: 'slow', ...depot }] : [];
  }
  const seconds = (doneAtMs - startedAtMs) / 1_000;
  if (jobId === undefined || job.way !== 'chain' || seconds <= 0 || bytes === 0) return [];
  return [{ jobId, verdict: 'worked', measured: { bytes, seconds } }];
}
