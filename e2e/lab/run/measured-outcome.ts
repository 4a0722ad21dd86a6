import { rounded } from '../results/rounded.ts';
import type { TransferOutcome } from '../transfers/transfer.ts';

/** What of a line a client's transfer decides. */
export function measuredOutcome(outcome: TransferOutcome) {
  const { seconds, receivedBytes, ttfbMs, isCut, isRight, error } = outcome;
  const hasFailed = error !== undefined && !isCut;
  return {
    seconds: rounded(seconds, 4),
    goodputBps: hasFailed ? 0 : Math.round((receivedBytes * 8) / Math.max(seconds, 1e-6)),
    ttfbMs: ttfbMs === null ? null : rounded(ttfbMs, 2),
    sha256Ok: isCut ? null : isRight,
    ...(isCut ? { cut: true as const, prefixOk: isRight, receivedBytes } : {}),
    ...(error === undefined ? {} : { error }),
  };
}
