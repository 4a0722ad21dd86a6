import { formatBps } from '@longhaul/shared';
import type { TransferLine } from './transfer-line.ts';

/** What identifies a transfer that is still to be made. */
export type PendingTransfer = Pick<TransferLine, 'scenario' | 'variant'>;

/**
 * Seconds until all of `pending` are done, judged by the durations of what is `done`: of the same scenario and variant
 * where there are some, else of the same variant, else of all. `overheadSeconds` goes on top of each transfer: what the
 * driver needs between two. Null while nothing is done.
 */
export function secondsLeft(
  done: readonly TransferLine[],
  pending: readonly PendingTransfer[],
  overheadSeconds = 0,
): number | null {
  if (done.length === 0) return null;
  const means = new Map<string, { sum: number; count: number }>();
  const add = (key: string, seconds: number) => {
    const { sum, count } = means.get(key) ?? { sum: 0, count: 0 };
    means.set(key, { sum: sum + seconds, count: count + 1 });
  };
  for (const line of done) for (const key of keysOf(line)) add(key, line.seconds);
  const expected = (transfer: PendingTransfer): number => {
    const known = keysOf(transfer)
      .map((key) => means.get(key))
      .find((found) => found !== undefined);
    return known ? known.sum / known.count : 0;
  };
  return pending.reduce((sum, transfer) => sum + expected(transfer) + overheadSeconds, 0);
}

/** Best knowledge first. */
function keysOf({ scenario, variant }: PendingTransfer): string[] {
  return [JSON.stringify([scenario, variant]), JSON.stringify([variant]), ''];
}

/** One line about the transfer just made: `[ 12/150] loss1e-3-big chain3 74.1 Mbit/s in 3.4 s · about 8 min left`. */
export function progressLine(line: TransferLine, count: number, total: number, left: number | null): string {
  const place = `[${String(count).padStart(String(total).length)}/${total}]`;
  const isBad = line.error !== undefined || line.sha256Ok === false || line.prefixOk === false;
  const said = isBad ? `FAILED: ${line.error ?? 'the bytes are wrong'}` : formatBps(line.goodputBps);
  const took = `in ${line.seconds.toFixed(1)} s${line.cut ? ' (cut)' : ''}`;
  const rest = left === null || count === total ? '' : ` · ${formatLeft(left)} left`;
  return `${place} ${line.scenario} ${line.variant} ${said} ${took}${rest}`;
}

function formatLeft(seconds: number): string {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} min`;
  return `about ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
