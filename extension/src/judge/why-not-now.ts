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

/** Whether the chain, from the first byte, is expected to end before the rest of the original. */
function isFasterFromStart(bytesReceived: number, totalBytes: number | undefined, plan: PlanAnswer): boolean {
  const rest = totalBytes === undefined ? 1 : 1 - bytesReceived / totalBytes;
  return plan.prediction.seconds < plan.direct.seconds * rest;
}
