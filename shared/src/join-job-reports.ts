import { type JobDownload, type JobLeg, type JobReport, MAX_NEIGHBOURS } from './messages/heartbeat.ts';

/**
 * What two reports of one depot say of one job together; the second one is the later. Of too many neighbours
 * the first are kept.
 */
export function joinJobReports(one: JobReport, other: JobReport): JobReport {
  const legs = new Map(one.legs.map((leg) => [leg.peer, leg]));
  for (const leg of other.legs) legs.set(leg.peer, joinLegs(legs.get(leg.peer), leg));
  const download = joinDownloads(one.download, other.download);
  return {
    jobId: one.jobId,
    // They may have run at the same time.
    seconds: Math.max(one.seconds, other.seconds),
    legs: [...legs.values()].slice(0, MAX_NEIGHBOURS),
    ...(download ? { download } : {}),
  };
}

function joinLegs(before: JobLeg | undefined, leg: JobLeg): JobLeg {
  if (!before) return leg;
  const rttMs = Math.min(before.rttMs ?? Number.POSITIVE_INFINITY, leg.rttMs ?? Number.POSITIVE_INFINITY);
  const goodputBps = Math.max(before.goodputBps ?? 0, leg.goodputBps ?? 0);
  const limitedBy = leg.limitedBy ?? before.limitedBy;
  const prefix = leg.prefix ?? before.prefix;
  return {
    peer: leg.peer,
    ...(prefix === undefined ? {} : { prefix }),
    connections: before.connections + leg.connections,
    sentBytes: before.sentBytes + leg.sentBytes,
    retransmittedBytes: before.retransmittedBytes + leg.retransmittedBytes,
    receivedBytes: before.receivedBytes + leg.receivedBytes,
    ...(Number.isFinite(rttMs) ? { rttMs } : {}),
    ...(goodputBps > 0 ? { goodputBps } : {}),
    ...(limitedBy === undefined ? {} : { limitedBy }),
  };
}

function joinDownloads(
  before: JobDownload | undefined,
  last: JobDownload | undefined,
): JobDownload | undefined {
  if (!before || !last) return last ?? before;
  return {
    ...last,
    requests: before.requests + last.requests,
    bodyBytes: before.bodyBytes + last.bodyBytes,
  };
}
