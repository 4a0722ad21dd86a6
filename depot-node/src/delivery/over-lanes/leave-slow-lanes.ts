import { type Chain, chainKey } from '@longhaul/shared';
import type { LanesWork } from '../../lanes/lane-transfer.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { Route } from '../../routes/route-book.ts';
import type { DownloadState, RunningDownload } from '../download/running-download.ts';
import type { WayWatch } from '../one-way/way-watch.ts';

/** Where lanes bring no more than so many times what the way brought that they left, the origin itself is slow. */
const TELLING_GAIN = 1.5;
/** Where they bring less than this share of it, they go back. */
const FAR_WORSE = 0.5;

interface LeaveComponents {
  readonly plane: Pick<DataPlane, 'observe' | 'steadyMs'>;
  readonly watch: Pick<WayWatch, 'lanesSlowness'>;
}

/**
 * Has all lanes of a download leave a way that stays far below its plan, unless the one that they went to is
 * no better: then the origin is slow. Call the result to stop.
 */
export function leaveSlowLanes(
  download: RunningDownload,
  { answer, firstBlock }: Extract<DownloadState, { readonly is: 'laning' }>,
  work: LanesWork,
  { plane, watch }: LeaveComponents,
): () => void {
  const { book } = download;
  let left: { readonly chain: Chain; readonly bps: number } | undefined;
  let stop: () => void = () => undefined;
  const watchOver = (over: Route) => {
    const onSlow = (meanBps: number) => {
      stop();
      const now = routeOfLanes(download, over);
      const isWorse = left !== undefined && meanBps < FAR_WORSE * left.bps;
      const isOfOrigin = left !== undefined && meanBps <= TELLING_GAIN * left.bps;
      if (now !== over) watchOver(now);
      else if (isWorse || (!isOfOrigin && FAR_WORSE * book.bestOtherBps(over.chain) >= meanBps)) {
        if (isWorse && left) book.forgive(left.chain);
        left = { chain: over.chain, bps: meanBps };
        download.noteSlow(over.chain, meanBps, plane.steadyMs(), work.bytes());
        const next = book.routes()[0] ?? over;
        tellLeft(download, plane, over.chain, next.chain);
        download.state = { is: 'laning', answer: { ...answer, route: next }, firstBlock };
        work.reopen();
        if (!isWorse) watchOver(next);
      }
    };
    stop = watch.lanesSlowness(over, work, onSlow, left?.bps ?? 0);
  };
  watchOver(answer.route);
  return () => stop();
}

/** Tells that lanes go on over another chain, whose connections do not stand yet. */
function tellLeft(
  { job, nextByte: atByte }: RunningDownload,
  { observe }: LeaveComponents['plane'],
  from: Chain,
  to: Chain,
): void {
  observe({ type: 'failover', jobId: job.id, reason: 'slow', from, to, atByte, isAgain: false, seconds: 0 });
}

/**
 * The route that all lanes go over where they have one in common, else `over`: some had another one since
 * theirs broke.
 */
function routeOfLanes({ book, lanes }: RunningDownload, over: Route): Route {
  const chains = new Set(
    lanes.flatMap(({ chain, isRemoved }) => (chain && !isRemoved ? [chainKey(chain)] : [])),
  );
  if (chains.size !== 1 || chains.has(chainKey(over.chain))) return over;
  return book.routes().find(({ chain }) => chains.has(chainKey(chain))) ?? over;
}
