import { ok, type Result } from '@longhaul/shared';
import type { DepotConfig } from './config.ts';
import { LastTargets } from './delivery/download/last-targets.ts';
import { type RunningDownload, RunningDownloads } from './delivery/download/running-download.ts';
import { WrongFiles } from './delivery/download/wrong-files.ts';
import type { JobTable } from './jobs/job-table.ts';
import { LaneMemory } from './lanes/lane-memory.ts';
import { LanePlaces } from './lanes/lane-places.ts';
import { createNextLegs } from './legs/next-leg.ts';
import { AheadBook } from './origin/ahead-book.ts';
import { BlockBook } from './origin/block-book.ts';
import { UnframedBook } from './origin/unframed-book.ts';
import type { OverlayMember } from './overlay-member.ts';
import type { DataPlane } from './plane/data-plane.ts';
import { createPrepareWay } from './prepare-way.ts';
import { Fetcher } from './routes/fetcher.ts';
import { createServeRelay } from './serve-relay.ts';
import { createStepwise } from './stepwise/stepwise.ts';
import { createConnectHandler } from './tunnel/connect-handler.ts';

interface DataPathsInit {
  readonly config: DepotConfig;
  readonly plane: DataPlane;
  readonly jobs: JobTable;
  readonly member: OverlayMember;
  /** How long a way that stands may take to go on with a download; left out, as long as a way may be silent. */
  readonly standingPatienceMs: number | undefined;
}

/**
 * The ways that a download can take through this depot: as entry depot, in a chain's middle or end, and step
 * by step.
 */
export function createDataPaths({ config, plane, jobs, member, standingPatienceMs }: DataPathsInit) {
  const { directory, membership, gate, trust, proofs, checker } = member;
  const nextLegs = createNextLegs({
    dial: member.dial,
    findDepot: member.findDepot,
    knownDepot: (id) => directory.depot(id),
    trust,
    proofs,
    noteRtt: (depot, rttMs) => membership.noteRtt(depot, rttMs),
    onBroken: plane.suspect,
    onLeg: (start) => plane.observe({ type: 'leg', start }),
    spareLegs: config.limits.spareLegs,
    neighbours: config.limits,
    connectTimeoutMs: plane.timeouts.connectMs,
    nowMs: plane.steadyMs,
  });
  const unframedBook = new UnframedBook(plane.steadyMs);
  const fetcher = new Fetcher({
    plane,
    openNextLeg: nextLegs.open,
    trust,
    followUp: member.followUp,
    unframedBook,
    patienceMs: config.failover.patienceSeconds * 1000,
    preparedWays: config.limits.preparedWays,
    onPreparedWay: (end) => plane.observe({ type: 'prepared-way', end }),
  });
  const stepwise = createStepwise({
    plane,
    fetcher,
    jobs,
    proofs,
    checker,
    findDepot: member.findDepot,
    overDepot: nextLegs.overDepot,
    ownPort: member.ownPort,
    redirectStatus: config.stepwise.redirectStatus,
    maxWaiting: config.stepwise.waiting,
    waitMs: config.stepwise.waitSeconds * 1000,
    fromDepot: member.noteDepot,
  });
  const running = new RunningDownloads();
  const laneMemory = new LaneMemory(config.lanes.totalBufferBytes);
  const lanePlaces = new LanePlaces(config.lanes.total);
  const blockBook = new BlockBook(plane.steadyMs);
  const lastTargets = new LastTargets(() => Math.floor(plane.nowMs() / 1000));
  const aheadBook = new AheadBook(plane.steadyMs, (host, takesAhead) =>
    membership.noteOrigin({ host, takesAhead }),
  );

  return {
    handleRelay: createServeRelay({
      plane,
      fetcher,
      gate,
      jobs,
      stepwise,
      running,
      wrongFiles: new WrongFiles(plane.steadyMs),
      masterUrl: () => directory.masterUrls[0],
      noteSize: (...seen) => membership.noteSize(...seen),
      noteRanges: (host, takesRanges) => membership.noteOrigin({ host, takesRanges }),
      failover: {
        maxTries: config.failover.tries,
        repairMs: config.failover.repairSeconds * 1000,
        outageMs: config.failover.outageSeconds * 1000,
        silenceMs: config.failover.silenceSeconds * 1000,
        standingPatienceMs: standingPatienceMs ?? config.failover.silenceSeconds * 1000,
        slow: { share: config.failover.slowShare, seconds: config.failover.slowSeconds },
        again: {
          mayFetchAgain: config.failover.fetchAgain !== 'never',
          perBreakBytes: config.failover.againBytes,
          perDownloadBytes: config.failover.againTotalBytes,
          maxTimes: config.failover.againTries,
        },
      },
      lanes: config.lanes,
      laneMemory,
      lanePlaces,
      aheadBook,
      blockBook,
      unframedBook,
      lastTargets,
      digests: { ofFile: config.integrity.digest, ofGiven: config.failover.fetchAgain },
    }),
    handleConnect: createConnectHandler({
      plane,
      gate,
      jobs,
      proofs: checker,
      openNextLeg: nextLegs.open,
      takePlace: nextLegs.takePlace,
      ensureKnown: member.ensureKnown,
      tunnelsPerJob: config.limits.tunnelsPerJob,
      fromDepot: member.noteDepot,
    }),
    /** Takes a master's notice that a connection to another depot will be needed. */
    takeNotice: (target: string, clientAddress: string): Result<void> => {
      const next = member.readNotice(target, clientAddress);
      if (!next.ok) return next;
      nextLegs.prepare(next.value);
      return ok(undefined);
    },
    /** Takes a master's notice that a client is about to come. */
    prepareWay: createPrepareWay({
      ownId: plane.ownId,
      gate,
      jobs,
      fetcher,
      readNotice: member.readWayNotice,
    }),
    dialDepot: nextLegs.dialDepot,
    downloads: (): readonly RunningDownload[] => running.list(),
    spareLegs: () => nextLegs.spareCount(),
    waitingTransfers: () => stepwise.waitingCount(),
    laneBytes: () => laneMemory.heldBytes,
    /** Closes what waits for a download; those that run go on. */
    close: () => {
      fetcher.close();
      nextLegs.close();
      stepwise.close();
    },
  };
}
