import type { PlanAnswer } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { WhyLeft } from './why-left.ts';

/** What has run for less, or brought less, says nothing of how fast it is. */
const LEAST = { seconds: 0.3, bytes: 262_144 } as const;
/**
 * What a download has shown in its first second counts for half: connections that begin well may lose packets
 * later, and origins slow down.
 */
const SHOWN_SHARE = 0.5;

/**
 * The last look before the original is touched, which has run for so long: the first reason to leave it alone
 * after all.
 */
export function whyNotNow(
  now: Download | undefined,
  plan: PlanAnswer,
  totalBytes: number | undefined,
  seconds: number,
): WhyLeft | undefined {
  if (now?.isWarnedOf) return 'warned';
  if (now?.state !== 'in_progress' || now.paused) return 'finished';
  if (!isFasterFromStart(now.bytesReceived, totalBytes, plan)) return 'nearly-done';
  return shownSeconds(now, totalBytes, seconds) < plan.prediction.seconds ? 'nearly-done' : undefined;
}

/**
 * Whether the chain, from the first byte, is expected to end before the rest of the original. Like the
 * master's decision by the legs of both: an origin or a line that makes chains take longer than these say
 * makes direct downloads so. What direct ones took beside that the master has counted in `direct`.
 */
function isFasterFromStart(
  bytesReceived: number,
  totalBytes: number | undefined,
  { prediction, direct }: PlanAnswer,
): boolean {
  const rest = totalBytes === undefined ? 1 : 1 - bytesReceived / totalBytes;
  // The original's answer is there: only a chain would have to wait for one.
  const { thoughtSeconds = 0 } = prediction;
  return thoughtSeconds + secondsByLegs(prediction) < secondsByLegs(direct) * rest;
}

function secondsByLegs({ seconds, calibration = 1 }: PlanAnswer['prediction']): number {
  return seconds / calibration;
}

/** How long the original needs for its rest, by what it has brought so far; `Infinity` where that says nothing. */
function shownSeconds({ bytesReceived }: Download, totalBytes: number | undefined, seconds: number): number {
  if (totalBytes === undefined || seconds < LEAST.seconds || bytesReceived < LEAST.bytes)
    return Number.POSITIVE_INFINITY;
  return ((totalBytes - bytesReceived) * seconds) / (SHOWN_SHARE * bytesReceived);
}
