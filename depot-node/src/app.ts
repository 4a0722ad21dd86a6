import { setTimeout as delay } from 'node:timers/promises';
import { formatAuthority, LonghaulError, ok } from '@longhaul/shared';
import {
  asListenFailure,
  ConnectionLimiter,
  type StateFolder,
  watchDescriptors,
} from '@longhaul/shared/service';
import type { DepotConfig } from './config.ts';
import type { DepotMaterial } from './config-file.ts';
import { createDataPaths } from './data-paths.ts';
import type { RunningDownload } from './delivery/download/running-download.ts';
import type { MembershipState } from './directory/membership.ts';
import { createDepotServer } from './door/depot-server.ts';
import { createLegSampler } from './estimates/leg-sampler.ts';
import { RunningLegs } from './estimates/running-legs.ts';
import { openUplink } from './fairness/open-uplink.ts';
import { JobTable } from './jobs/job-table.ts';
import { openKernel } from './kernel/open-kernel.ts';
import { jobReportOf } from './measuring/job-report.ts';
import { LinkTests } from './measuring/link-tests.ts';
import { OriginProbes } from './measuring/origin-probes.ts';
import { createUplinkLoad } from './measuring/uplink-load.ts';
import { createMetrics } from './metrics.ts';
import { createOverlayMember } from './overlay-member.ts';
import type { DataPlane } from './plane/data-plane.ts';
import { DESCRIPTORS_OUT, type Observe } from './plane/events.ts';
import { createRelay } from './relay/choose-plane.ts';
import { resetOnClose } from './relay/prepare-ends.ts';
import type { SplicePlane } from './relay/splice-plane.ts';
import { fitLimits, readDescriptorLimit } from './sockets/descriptor-limits.ts';
import { KeptConnections } from './sockets/kept-connections.ts';
import { createLegSockets } from './sockets/kernel-leg-sockets.ts';
import type { SocketReport } from './sockets/leg-sockets.ts';
import { listen } from './sockets/listener.ts';
import { ListenerCertificate } from './sockets/listener-certificate.ts';

/** How long a depot that stops waits for its master to hear of it. */
const FAREWELL_MS = 500;
/** How long its transfers may take to break off; the process ends soon after. */
const BREAK_OFF_MS = 300;
/** Of all connections, kept for other depots and the master: clients must not keep them from each other. */
const RESERVED_SHARE = 0.2;

export interface DepotInit extends DepotMaterial {
  readonly config: DepotConfig;
  readonly state: StateFolder;
  /** The relay of the kernel; left out where there is none or it is not wanted. */
  readonly splice: SplicePlane | undefined;
  /** Seconds that are left of each certificate, by the key that names it. */
  readonly certificateSecondsLeft?: () => Readonly<Record<string, number>>;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** Milliseconds by a clock that is never set; left out, the process's own. */
  readonly steadyMs?: () => number;
  /** How long an answer that is no download may be left unread; left out, half a minute. */
  readonly unreadTimeoutMs?: number | undefined;
  /** How long a way that stands may take to go on with a download; left out, as long as a way may be silent. */
  readonly standingPatienceMs?: number | undefined;
  /** How long transfers of a depot that stops may take to break off; left out, a third of a second. */
  readonly breakOffMs?: number | undefined;
}

export interface Depot {
  /**
   * Binds the listener and joins the overlay, as far as its master lets it; gives the depot's public base
   * URL. Rejects with a registered code where the address cannot be bound.
   */
  readonly listen: () => Promise<{ readonly url: string; readonly membership: MembershipState }>;
  /**
   * Takes other certificates and secrets, which were checked, for what begins from now on, and asks its master again. A
   * depot without TLS stays so. Throws `depot-not-joined` or `config-invalid`, and has taken nothing then.
   */
  readonly renew: (material: DepotMaterial) => void;
  /**
   * Takes nothing new, lets running transfers end for up to `graceMs`, then breaks off what is left: by FIN
   * where any client sees that it is cut, else by a reset. Called again, it counts anew from then on.
   */
  readonly close: (graceMs: number) => Promise<void>;
  /** Transfers and tunnels that run now. */
  readonly transfers: () => number;
  /** The downloads that it serves as entry depot now. */
  readonly downloads: () => readonly RunningDownload[];
}

/** Builds a depot that does not listen yet. */
export function createDepot(init: DepotInit): Depot {
  const {
    config,
    state,
    enrolmentSecret,
    trustedAuthorities,
    nowMs,
    steadyMs = () => performance.now(),
    breakOffMs = BREAK_OFF_MS,
  } = init;
  const shutdown = new AbortController();
  const wanted = config.limits;
  const tlsEnding = init.splice && 'accept' in init.splice.tls ? init.splice.tls : undefined;
  const ofOrigins = tlsEnding !== undefined;
  const threadTls = { ofClients: ofOrigins && init.tls !== undefined, ofOrigins };
  const limits = fitLimits({ ...wanted, lanes: config.lanes.total }, readDescriptorLimit(), threadTls);
  const lanes = { ...config.lanes, total: limits.lanes };
  const { transfers, connections } = limits;
  const jobs = createJobs(limits, { nowMs, steadyMs }, shutdown.signal);
  const metrics = createMetrics({
    activeTransfers: () => jobs.active,
    isMember: () => member.membership.state.isMember,
    spareLegs: () => paths.spareLegs(),
    waitingTransfers: () => paths.waitingTransfers(),
    legTotals: (legClass) => sampler.totals(legClass),
    mptcp: () => sockets.mptcp,
    openConnections: () => limiter.open,
    laneBytes: () => paths.laneBytes(),
    uplink: config.uplink && (() => uplink?.use()),
    relayThreads: () => init.splice?.threads() ?? 0,
    tls: () => tlsEnding?.use(),
    certificateSecondsLeft: init.certificateSecondsLeft ?? (() => ({})),
  });
  const observe: Observe = (event) => {
    metrics.observe(event);
    const ended = jobReportOf(event);
    if (ended) member.membership.noteJob(ended);
    init.observe(event);
  };

  const relay = createRelay({ splice: init.splice, onFlow: (plane) => observe({ type: 'flow', plane }) });
  const { kernel, sockets, uplink } = openSockets(config, observe);
  const sampler = createLegSampler(kernel, {
    boundBpsOf: (legClass) => config.sockets[legClass].maxPacingBps,
  });
  const plane: DataPlane = {
    ownId: config.id,
    relay,
    resetOnClose: kernel && ((stream) => resetOnClose(kernel, stream)),
    watch: sampler.watch,
    legs: new RunningLegs(),
    joinUplink: uplink?.join,
    timeouts: {
      connectMs: config.timeouts.connectSeconds * 1000,
      answerMs: config.timeouts.answerSeconds * 1000,
      silenceMs: config.timeouts.silenceSeconds * 1000,
      stallMs: config.timeouts.stallSeconds * 1000,
    },
    originStands: (origin) => member.originReach.stands(origin),
    suspect: (depot) => member.neighbours.suspect(depot),
    observe,
    nowMs,
    steadyMs,
    shutdown: shutdown.signal,
  };
  const member = createOverlayMember({
    config,
    state,
    enrolmentSecret,
    trustedAuthorities,
    tls: init.tls !== undefined,
    tlsEnding,
    sockets,
    takeLinkReports: () => sampler.takeLinkReports(),
    takeClientReports: () => sampler.takeClientReports(),
    takeOriginReports: () => sampler.takeOriginReports(),
    activeTransfers: () => jobs.active,
    isMoving: () => jobs.isMoving,
    uplink:
      config.uplink &&
      createUplinkLoad({
        mostBps: config.uplink.rateBps,
        // Where no kernel counts what goes out, what was relayed stands for it.
        sentBytes: () =>
          kernel ? sampler.totals('client').sentBytes + sampler.totals('depot').sentBytes : jobs.relayedBytes,
        nowMs: steadyMs,
      }),
    onHeard: ({ test, probe }) => {
      if (config.measuring.bytesPerHour === 0) return;
      void linkTests.probe();
      if (test) void linkTests.run(test);
      if (probe) void originProbes.run(probe);
    },
    observe,
    nowMs,
    steadyMs,
  });
  const { standingPatienceMs } = init;
  const fitting = { ...config, limits, lanes };
  const paths = createDataPaths({ config: fitting, plane, jobs, member, standingPatienceMs });
  const linkTests = new LinkTests({
    plane,
    dialDepot: paths.dialDepot,
    probeDepot: member.probeDepot,
    depots: () => member.directory.depots,
    proofs: member.proofs,
    checker: member.checker,
    ensureCallerKnown: member.ensureCallerKnown,
    fromDepot: member.noteDepot,
    isBusy: () => jobs.isMoving,
    report: () => void member.membership.tell(),
    bytesPerHour: config.measuring.bytesPerHour,
  });

  const originProbes = new OriginProbes({
    plane,
    dial: member.dial,
    noteOrigin: (report) => member.membership.noteOrigin(report),
    report: () => void member.membership.tell(),
  });

  const ofListener = ({ tls, groupTls }: Pick<DepotMaterial, 'tls' | 'groupTls'>) =>
    tls && { ...tls, named: groupTls ? [{ host: config.entryGroup?.host ?? '', ...groupTls }] : [] };
  const proved = ofListener(init);
  const certificate = proved && new ListenerCertificate(proved, tlsEnding);
  const counts = certificate?.ending?.makeCounts();
  const limiter = new ConnectionLimiter({
    limits: {
      most: connections,
      reserved: Math.floor(connections * RESERVED_SHARE),
      perNetwork: limits.connectionsPerNetwork,
      waitingPerNetwork: limits.waitingPerNetwork,
      unusedPerNetwork: limits.unusedPerNetwork,
    },
    isTrusted: member.isOwn,
    onRefused: (refused) => observe({ type: 'connection-refused', ...refused }),
    elsewhere: counts,
  });
  let closing = false;
  const server = createDepotServer({
    observe,
    limiter,
    ownId: config.id,
    certificate,
    sockets: config.sockets.client,
    handleRelay: paths.handleRelay,
    handleConnect: paths.handleConnect,
    membership: () => member.membership.state,
    answerChallenge: member.answerChallenge,
    takeNotice: paths.takeNotice,
    prepareWay: paths.prepareWay,
    answerLegs: (target, clientAddress) => {
      const jobId = member.readLegsQuestion(target, clientAddress);
      return jobId.ok ? ok({ id: config.id, legs: plane.legs.of(jobId.value) }) : jobId;
    },
    noteGreeting: (socket) => sampler.noteGreeting(socket),
    serveLinkTest: (request, response) => linkTests.serve(request, response),
    metrics: metrics.registry,
    operators: {
      networks: config.metricsNetworks,
      hosts: config.metricsHosts,
      publicHosts: publicNames(config),
    },
    isClosing: () => closing,
    unreadTimeoutMs: init.unreadTimeoutMs,
    stallMs: plane.timeouts.stallMs,
  });

  const kept = new KeptConnections(server);
  const endWatch = watchDescriptors(() => observe(DESCRIPTORS_OUT));
  let closed: Promise<void> | undefined;
  let grace: NodeJS.Timeout | undefined;
  const closeAll = async () => {
    closing = true;
    endWatch();
    member.membership.stop();
    paths.close();
    member.neighbours.close();
    // The master learns of it if it can; a master that is gone as well holds nobody up.
    const told = Promise.race([member.membership.drain(), delay(FAREWELL_MS)]);
    limiter.closeWaiting();
    // A spliced tunnel is no connection of the server any more.
    await Promise.all([kept.close(), told, jobs.idle()]);
  };

  return {
    transfers: () => jobs.active,
    downloads: paths.downloads,
    listen: async () => {
      const { host, port } = config.listen;
      const byThreads = certificate && counts && { certificate, limiter, counts };
      const bound = await listen(server, host, port, sockets, byThreads).catch((failure: unknown) => {
        throw asListenFailure(failure, formatAuthority(host, port));
      });
      if (transfers < wanted.transfers || connections < wanted.connections)
        observe({ type: 'descriptors-short', transfers, connections });
      const url = await member.join(bound.port);
      return { url, membership: member.membership.state };
    },
    renew: (material) => {
      const renewed = ofListener(material);
      const proof = member.proofBy(material.enrolmentSecret);
      if (renewed) certificate?.renew(renewed);
      member.renew(material.trustedAuthorities, proof);
    },
    close: (graceMs) => {
      clearTimeout(grace);
      grace = setTimeout(() => {
        shutdown.abort(new LonghaulError('shutting-down'));
        // Transfers break off by themselves; a body that might look whole if it merely ended by a reset.
        void Promise.race([jobs.idle(), delay(breakOffMs)])
          .then(() => server.closeAllConnections())
          .then(() => delay(breakOffMs))
          .then(() => kept.breakOff());
      }, graceMs);
      closed ??= closeAll().finally(() => clearTimeout(grace));
      return closed;
    },
  };
}

function createJobs(
  limits: DepotConfig['limits'],
  { nowMs, steadyMs }: { readonly nowMs: () => number; readonly steadyMs: () => number },
  shutdown: AbortSignal,
): JobTable {
  return new JobTable({
    maxTransfers: limits.transfers,
    maxPerJob: limits.perJob,
    maxPerClient: limits.perClient,
    maxPerNetwork: limits.perNetwork,
    maxPerOrigin: limits.perOrigin,
    maxClientBps: limits.clientBps,
    maxOriginBps: limits.originBps,
    maxJobs: limits.jobs,
    shutdown,
    nowSeconds: () => Math.floor(nowMs() / 1000),
    steadySeconds: () => Math.floor(steadyMs() / 1000),
  });
}

/** Sockets with the configured options, and the kernel's own interface where there is one. */
function openSockets(config: DepotConfig, observe: Observe) {
  const access = openKernel();
  const report = (what: SocketReport) => observe({ type: 'sockets', ...what });
  const sockets = createLegSockets(config.sockets, access, report);
  return { kernel: access.kernel, sockets, uplink: openUplink(config, access, report) };
}

/** By which anybody asks for this depot. */
function publicNames({ public: dialled, entryGroup }: DepotConfig): readonly string[] {
  return [dialled?.host, entryGroup?.host].filter((host) => host !== undefined);
}
