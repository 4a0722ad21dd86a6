import { type JobLeg, type JobReport, MAX_RTT_MS } from '@longhaul/shared';
import { LIMITS } from '../estimates/leg-meter.ts';
import type { LegSummary } from '../estimates/leg-summaries.ts';
import type { DepotEvent } from '../plane/events.ts';

/** What the master is told of a transfer or tunnel that has ended; `undefined` for all other events. */
export function jobReportOf(event: DepotEvent): JobReport | undefined {
  if (event.type !== 'transfer' && event.type !== 'tunnel') return undefined;
  const { jobId, seconds } = event;
  const legs = event.legs.map(legOf);
  if (event.type === 'tunnel') return { jobId, seconds, legs };
  const { bodyBytes, status, outcome, chain, left, ownShare, waitedMs } = event;
  const isComplete = outcome === 'complete';
  // An add-on tries a way by one byte before it takes it: as a request of the job's it would keep the
  // download from being compared with its plan.
  if (status === 206 && bodyBytes === 1 && isComplete) return { jobId, seconds, legs };
  const isWhole = status === 200 && isComplete;
  return {
    jobId,
    seconds,
    legs,
    download: {
      requests: 1,
      bodyBytes,
      seconds,
      isWhole,
      outcome,
      chain: [...chain],
      ownShare: rounded(ownShare),
      ...(waitedMs === undefined ? {} : { waitedSeconds: rounded(waitedMs / 1000) }),
      ...(left ? { left } : {}),
    },
  };
}

/** To thousandths: more digits would only take room in a heartbeat. */
function rounded(value: number): number {
  return Math.round(1000 * value) / 1000;
}

function legOf(summary: LegSummary): JobLeg {
  const { legClass, depot, network, connections, sentBytes, retransmittedBytes, receivedBytes, limitedMs } =
    summary;
  const { minRttMs, deliveryRateBps } = summary;
  const limitedBy = LIMITS.reduce((most, limit) => (limitedMs[limit] > limitedMs[most] ? limit : most));
  return {
    peer: depot ?? legClass,
    ...(network === undefined ? {} : { prefix: network }),
    connections,
    sentBytes,
    retransmittedBytes,
    receivedBytes,
    // One report that the master refuses takes all others with it.
    ...(minRttMs === undefined || minRttMs > MAX_RTT_MS ? {} : { rttMs: minRttMs }),
    ...(deliveryRateBps ? { goodputBps: deliveryRateBps } : {}),
    ...(limitedMs[limitedBy] > 0 ? { limitedBy } : {}),
  };
}
