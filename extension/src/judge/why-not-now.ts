import type { PlanAnswer } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { WhyLeft } from './why-left.ts';

/** The last look before the original is touched: the first reason to leave it alone after all. */
export function whyNotNow(
  now: Download | undefined,
  plan: PlanAnswer,
  totalBytes: number | undefined,
): WhyLeft | undefined {
  if (now?.state !== 'in_progress' || now.paused) return 'finished';
  return isFasterFromStart(now.bytesReceived, totalBytes, plan) ? undefined : 'nearly-done';
}

/**
 * Whether the chain, from the first byte, is expected to end before the rest of the original. Like the master's decision by the legs of both: an origin or a
 * line that makes chains take longer than these say makes direct downloads so. What direct ones took beside that the master has counted in `direct`.
 */
function isFasterFromStart(
  bytesReceived: number,
  totalBytes: number | undefined,
  { prediction, direct }: PlanAnswer,
): boolean {
  const rest = totalBytes === undefined ? 1 : 1 - bytesReceived / totalBytes;
  return secondsByLegs(prediction) < secondsByLegs(direct) * rest;
}

function secondsByLegs({ seconds, calibration = 1 }: PlanAnswer['prediction']): number {
  return seconds / calibration;
}
