import type { Chain } from '@longhaul/shared';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { BreakReason } from '../../plane/events.ts';
import type { DownloadState, RunningDownload } from '../download/running-download.ts';

/** What goes on behind a way that was left. */
type GoesOn = Pick<Extract<DownloadState, { readonly is: 'sending' }>, 'answer' | 'prefix'>;

/** Takes note that a download looks for another way now; gives what tells how that has ended. */
export function beginFailover(
  download: RunningDownload,
  { observe, steadyMs }: Pick<DataPlane, 'observe' | 'steadyMs'>,
  from: Chain,
  reason: BreakReason,
): (repaired?: GoesOn) => void {
  const { id: jobId } = download.job;
  const begunMs = steadyMs();
  const atByte = download.nextByte;
  return (repaired) => {
    const to = repaired?.answer.route.chain;
    const isAgain = repaired?.prefix !== undefined;
    const seconds = (steadyMs() - begunMs) / 1000;
    observe({ type: 'failover', jobId, reason, from, to, atByte, isAgain, seconds });
  };
}
