import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { depotBaseUrl, LonghaulError, originHref } from '@longhaul/shared';
import {
  authorityOf,
  ConnectionLimiter,
  DepotSources,
  type StateFolder,
  type TlsMaterial,
} from '@longhaul/shared/service';
import type { DepotConfig } from './config.ts';
import { type RunningDownload, RunningDownloads } from './delivery/running-download.ts';
import { AddressChallenges } from './directory/address-challenges.ts';
import { DepotDirectory } from './directory/directory.ts';
import { MasterClient } from './directory/master-client.ts';
import { Membership, type MembershipState } from './directory/membership.ts';
import { OverlayAddresses } from './directory/overlay-addresses.ts';
import { createDepotServer } from './door/depot-server.ts';
import { openUplink } from './fairness/open-uplink.ts';
import { loadIdentity } from './identity.ts';
import { JobTable } from './jobs/job-table.ts';
import { openKernel } from './kernel/open-kernel.ts';
import { LaneMemory } from './lanes/lane-memory.ts';
import { ProofChecker, ProofMaker } from './legs/caller-proof.ts';
import { createNextLegs } from './legs/next-leg.ts';
import { createMetrics } from './metrics.ts';
import { createResolver } from './names/resolver.ts';
import type { DataPlane } from './plane/data-plane.ts';
import type { Observe } from './plane/events.ts';
import { createRelay } from './relay/choose-plane.ts';
import type { SplicePlane } from './relay/splice-plane.ts';
import { Fetcher } from './routes/fetcher.ts';
import { createServeRelay } from './serve-relay.ts';
import { fitLimits, readDescriptorLimit } from './sockets/descriptor-limits.ts';
import { createDial } from './sockets/dial.ts';
import { createLegSockets } from './sockets/kernel-leg-sockets.ts';
import { createLegSampler } from './sockets/leg-sampler.ts';
import type { SocketReport } from './sockets/leg-sockets.ts';
import { listen } from './sockets/listener.ts';
import { createTrust } from './sockets/secure.ts';
import { createStepwise } from './stepwise/stepwise.ts';
import { type OpenTicket, TicketGate } from './tickets/ticket-gate.ts';
import { createConnectHandler } from './tunnel/connect-handler.ts';

/** How long a depot that stops waits for its master to hear of it. */
const FAREWELL_MS = 500;
/** How long its transfers may take to break off. */
const BREAK_OFF_MS = 1000;
/** Of all connections, kept for other depots and the master: clients must not keep them from each other. */
const RESERVED_SHARE = 0.2;

export interface DepotInit {
  readonly config: DepotConfig;
  readonly state: StateFolder;
  readonly enrolmentSecret: string;
  readonly tls: TlsMaterial | undefined;
  /** PEM texts of authorities trusted beside the usual ones. */
  readonly trustedAuthorities: readonly string[];
  /** The relay of the kernel; left out where there is none or it is not wanted. */
  readonly splice: SplicePlane | undefined;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

export interface Depot {
  /** Binds the listener and joins the overlay, as far as its master lets it; gives the depot's public base URL. */
  readonly listen: () => Promise<{ readonly url: string; readonly membership: MembershipState }>;
  /** Takes nothing new, lets running transfers end for up to `graceMs`, then resets what is left. */
  readonly close: (graceMs: number) => Promise<void>;
  /** The downloads that it serves as entry depot now. */
  readonly downloads: () => readonly RunningDownload[];
}

/** Builds a depot that does not listen yet. */
export function createDepot(init: DepotInit): Depot {
  const { config, state, nowMs } = init;
  const nowSeconds = () => Math.floor(nowMs() / 1000);
  const shutdown = new AbortController();
  const wanted = config.limits;
  const limits = fitLimits(wanted, readDescriptorLimit());
  const { transfers, connections } = limits;
  const jobs = new JobTable({
    maxTransfers: transfers,
    maxPerJob: config.limits.perJob,
    maxPerClient: limits.perClient,
    maxPerNetwork: limits.perNetwork,
    maxPerOrigin: config.limits.perOrigin,
    maxClientBps: config.limits.clientBps,
    maxOriginBps: config.limits.originBps,
    maxJobs: config.limits.jobs,
    bootedAt: nowSeconds(),
    nowSeconds,
  });
  const metrics = createMetrics({
    activeTransfers: () => jobs.active,
    isMember: () => membership.state.isMember,
    spareLegs: () => nextLegs.spareCount(),
    waitingTransfers: () => stepwise.waitingCount(),
    legTotals: (legClass) => sampler.totals(legClass),
    mptcp: () => sockets.mptcp,
    openConnections: () => limiter.open,
    laneBytes: () => laneMemory.heldBytes,
    uplink: config.uplink && (() => uplink?.use()),
  });
  const observe: Observe = (event) => {
    metrics.observe(event);
    init.observe(event);
  };

  if (transfers < wanted.transfers || connections < wanted.connections)
    observe({ type: 'descriptors-short', transfers, connections });
  const relay = createRelay({ splice: init.splice, onFlow: (plane) => observe({ type: 'flow', plane }) });
  const identity = loadIdentity(config.id, state);
  const directory = new DepotDirectory(state);
  const resolve = createResolver({ names: config.names, servers: config.resolver.servers, nowMs });
  const overlay = new OverlayAddresses(resolve, nowMs);
  const sources = new DepotSources();
  const trust = createTrust(init.trustedAuthorities);
  const { kernel, sockets, uplink } = openSockets(config, observe);
  const sampler = createLegSampler(kernel);
  const plane: DataPlane = {
    ownId: config.id,
    relay,
    watch: sampler.watch,
    joinUplink: uplink?.join,
    timeouts: {
      connectMs: config.timeouts.connectSeconds * 1000,
      answerMs: config.timeouts.answerSeconds * 1000,
      silenceMs: config.timeouts.silenceSeconds * 1000,
      stallMs: config.timeouts.stallSeconds * 1000,
    },
    observe,
    nowMs,
    shutdown: shutdown.signal,
  };
  const { connectMs } = plane.timeouts;
  const dial = createDial({
    sockets,
    resolve,
    policy: config.addresses,
    isOverlayAddress: (address, port) => overlay.includes(address, port),
    connectTimeoutMs: connectMs,
  });
  const client = new MasterClient({
    masterUrl: config.master.url,
    identity,
    enrolmentSecret: init.enrolmentSecret,
    dial,
    trust,
    nowMs,
  });
  const updateOverlay = () =>
    overlay.update([...directory.places, ...[config.master.url, ...directory.masterUrls].map(authorityOf)]);
  let publicPlace = { host: '', port: 0, tls: init.tls !== undefined };
  const challenges = new AddressChallenges({ identity, place: () => publicPlace, nowMs });
  const membership = new Membership({
    client,
    self: () => publicPlace,
    heartbeatMs: config.master.heartbeatSeconds * 1000,
    activeTransfers: () => jobs.active,
    takeLinkReports: () => sampler.takeLinkReports(),
    onDirectory: async (answer) => {
      await Promise.all([directory.update(answer), updateOverlay()]);
      observe({ type: 'directory', depots: answer.depots.length });
    },
    onState: (state) => observe({ type: 'membership', ...state }),
    onFailure: (failure) => observe({ type: 'master-lost', code: failure.code, detail: failure.detail }),
    nowMs,
  });

  const gate = new TicketGate({
    masterKey: (keyId) => directory.masterKey(keyId),
    refetchKeys: () => membership.refetch('key'),
  });
  // A plan may name a depot that has registered since this one's last heartbeat.
  const ensureKnown = async (id: string) => {
    if (!directory.depot(id)) await membership.refetch('depot');
  };
  const findDepot = async (id: string) => {
    await ensureKnown(id);
    return directory.depot(id);
  };
  const proofs = new ProofMaker(identity, nowMs);
  const checker = new ProofChecker({ depotKey: (id) => directory.depotKey(id), nowMs });
  const nextLegs = createNextLegs({
    dial,
    findDepot,
    knownDepot: (id) => directory.depot(id),
    trust,
    proofs,
    noteRtt: (depot, rttMs) => membership.noteRtt(depot, rttMs),
    onLeg: (start) => observe({ type: 'leg', start }),
    spareLegs: config.limits.spareLegs,
    connectTimeoutMs: connectMs,
    nowMs,
  });
  const fromDepot = (socket: Duplex) => {
    sockets.reclassify(socket, 'depot');
    if (socket instanceof Socket) sources.note(socket.remoteAddress ?? '', nowMs());
  };
  const fetcher = new Fetcher({
    plane,
    openNextLeg: nextLegs.open,
    trust,
    followUp: (from, target, avoid) => followUp(client, gate, from, originHref(target), avoid),
    patienceMs: config.failover.patienceSeconds * 1000,
  });
  const stepwise = createStepwise({
    plane,
    fetcher,
    jobs,
    proofs,
    checker,
    findDepot,
    overDepot: nextLegs.overDepot,
    ownPort: () => publicPlace.port,
    redirectStatus: config.stepwise.redirectStatus,
    maxWaiting: config.stepwise.waiting,
    waitMs: config.stepwise.waitSeconds * 1000,
    fromDepot,
  });
  const running = new RunningDownloads();
  const laneMemory = new LaneMemory(config.lanes.totalBufferBytes);
  const serveRelay = createServeRelay({
    plane,
    fetcher,
    gate,
    jobs,
    stepwise,
    running,
    masterUrl: () => directory.masterUrls[0],
    noteSize: (urlHash, sizeBytes) => membership.noteSize(urlHash, sizeBytes),
    failover: {
      maxTries: config.failover.tries,
      repairMs: config.failover.repairSeconds * 1000,
      silenceMs: config.failover.silenceSeconds * 1000,
      slow: { share: config.failover.slowShare, seconds: config.failover.slowSeconds },
    },
    lanes: config.lanes,
    laneMemory,
    digestsAll: config.integrity.digest === 'always',
  });
  const handleConnect = createConnectHandler({
    plane,
    gate,
    jobs,
    proofs: checker,
    openNextLeg: nextLegs.open,
    ensureKnown,
    tunnelsPerJob: config.limits.tunnelsPerJob,
    fromDepot,
  });

  const limiter = new ConnectionLimiter({
    limits: {
      most: connections,
      reserved: Math.floor(connections * RESERVED_SHARE),
      perNetwork: limits.connectionsPerNetwork,
      waitingPerNetwork: limits.waitingPerNetwork,
    },
    isTrusted: (address) => overlay.isOf(address) || sources.has(address, nowMs()),
    onRefused: (refused) => observe({ type: 'connection-refused', ...refused }),
  });

  let closing = false;
  const server = createDepotServer({
    observe,
    limiter,
    ownId: config.id,
    tls: init.tls,
    sockets: config.sockets.client,
    handleRelay: serveRelay,
    handleConnect,
    membership: () => membership.state,
    answerChallenge: (target, clientAddress) => challenges.answer(target, clientAddress),
    metrics: metrics.registry,
    metricsNetworks: config.metricsNetworks,
    isClosing: () => closing,
  });

  return {
    downloads: () => running.list(),
    listen: async () => {
      const bound = await listen(server, config.listen.host, config.listen.port, sockets);
      overlay.setOwnPort(bound.port);
      publicPlace = {
        host: config.public?.host ?? config.listen.host,
        port: config.public?.port ?? bound.port,
        tls: init.tls !== undefined,
      };
      await updateOverlay();
      await membership.start();
      return { url: depotBaseUrl(publicPlace), membership: membership.state };
    },
    close: async (graceMs) => {
      closing = true;
      membership.stop();
      nextLegs.close();
      stepwise.close();
      // The master learns of it if it can; a master that is gone as well holds nobody up.
      const told = Promise.race([membership.drain(), delay(FAREWELL_MS)]);
      const closed = new Promise<void>((resolveClosed) => server.close(() => resolveClosed()));
      server.closeIdleConnections();
      limiter.closeWaiting();
      const grace = setTimeout(() => {
        shutdown.abort(new LonghaulError('shutting-down'));
        // Transfers break off by themselves, by a reset: a body that merely ended might look whole.
        void Promise.race([jobs.idle(), delay(BREAK_OFF_MS)]).then(() => server.closeAllConnections());
      }, graceMs);
      // A spliced tunnel is no connection of the server any more.
      await Promise.all([closed, told, jobs.idle()]);
      clearTimeout(grace);
    },
  };
}

/** Sockets with the configured options, and the kernel's own interface where there is one. */
function openSockets(config: DepotConfig, observe: Observe) {
  const access = openKernel();
  const report = (what: SocketReport) => observe({ type: 'sockets', ...what });
  const sockets = createLegSockets(config.sockets, access, report);
  return { kernel: access.kernel, sockets, uplink: openUplink(config, access, report) };
}

async function followUp(
  client: MasterClient,
  gate: TicketGate,
  from: OpenTicket,
  url: string,
  avoid?: readonly string[],
): Promise<OpenTicket> {
  const ticket = await gate.open(await client.followUp(from.text, url, avoid), {});
  if (!ticket.ok) throw ticket.error;
  return ticket.value;
}
