import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type DepotEntry, depotBaseUrl, originHref } from '@longhaul/shared';
import {
  authorityOf,
  DepotSources,
  FailedChecks,
  hasDescriptorLeft,
  type StateFolder,
} from '@longhaul/shared/service';
import type { DepotConfig } from './config.ts';
import type { DepotMaterial } from './config-file.ts';
import { AddressChallenges } from './directory/address-challenges.ts';
import { DepotDirectory } from './directory/directory.ts';
import { readLegsQuestion } from './directory/legs-question.ts';
import { MasterClient } from './directory/master-client.ts';
import { type MastersProof, proofOf } from './directory/masters-proof.ts';
import { type MasterOrders, Membership } from './directory/membership.ts';
import { NeighbourChecks } from './directory/neighbour-checks.ts';
import { OverlayAddresses } from './directory/overlay-addresses.ts';
import { PlanNotices } from './directory/plan-notices.ts';
import type { LegSampler } from './estimates/leg-sampler.ts';
import { isRotated, loadIdentity } from './identity.ts';
import { ProofChecker, ProofMaker } from './legs/caller-proof.ts';
import { PairMacs } from './legs/pair-macs.ts';
import { OriginReach } from './measuring/origin-reach.ts';
import { createResolver } from './names/resolver.ts';
import { DESCRIPTORS_OUT, type Observe } from './plane/events.ts';
import { createDial } from './sockets/dial.ts';
import type { LegSockets } from './sockets/leg-sockets.ts';
import { Trust } from './sockets/trust.ts';
import { type OpenTicket, TicketGate } from './tickets/ticket-gate.ts';
import type { TlsEnding } from './tls/tls-ending.ts';

export interface OverlayMemberInit extends Omit<DepotMaterial, 'tls' | 'groupTls'> {
  readonly config: DepotConfig;
  readonly state: StateFolder;
  /** Whether the depot's listener has TLS. */
  readonly tls: boolean;
  /** What ends TLS outside of Node, where something does. */
  readonly tlsEnding: TlsEnding | undefined;
  readonly sockets: LegSockets;
  readonly takeLinkReports: LegSampler['takeLinkReports'];
  readonly takeClientReports: LegSampler['takeClientReports'];
  readonly takeOriginReports: LegSampler['takeOriginReports'];
  readonly activeTransfers: () => number;
  /** Whether these carry bytes, or have just begun. */
  readonly isMoving: () => boolean;
  /** What the uplink carries and can carry; left out where that is not bounded. */
  readonly uplink: (() => { readonly sentBps: number; readonly mostBps: number }) | undefined;
  /** Called after each heartbeat, with what the master asks to be measured. */
  readonly onHeard: (orders: MasterOrders) => void;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
}

export type OverlayMember = ReturnType<typeof createOverlayMember>;

/** What a depot is among masters and depots: whom it knows and trusts, how it is known, and the way to them. */
export function createOverlayMember(init: OverlayMemberInit) {
  const { config, state, sockets, observe, nowMs } = init;
  let proof = proofOf(init.enrolmentSecret, state);
  let place = { host: '', port: 0, tls: init.tls };
  const identity = loadIdentity(config.id, state);
  const directory = new DepotDirectory(state);
  const resolve = createResolver({ names: config.names, servers: config.resolver.servers, nowMs });
  const addresses = new OverlayAddresses(resolve, nowMs);
  const sources = new DepotSources();
  const trust = new Trust(init.trustedAuthorities, init.tlsEnding);
  const originReach = new OriginReach({
    report: () => void membership.tell(),
    hasDescriptor: hasDescriptorLeft,
    steadyMs: init.steadyMs,
  });
  const dialAny = createDial({
    sockets,
    resolve,
    policy: config.addresses,
    isOverlayAddress: (address, port) => addresses.includes(address, port),
    isOwnAddress: (address) => addresses.isOwn(address),
    connectTimeoutMs: config.timeouts.connectSeconds * 1000,
    onOutOfDescriptors: () => observe(DESCRIPTORS_OUT),
  });
  const dial = originReach.watch(dialAny);
  const client = new MasterClient({
    masterUrl: config.master.url,
    otherMasters: () => directory.masterUrls,
    identity,
    get proof() {
      return proof;
    },
    dial,
    trust,
    nowMs,
  });
  const updateAddresses = () =>
    addresses.update([...directory.places, ...[config.master.url, ...directory.masterUrls].map(authorityOf)]);
  const membership = new Membership({
    client,
    self: () => place,
    isKeyRotated: () => isRotated(identity, state),
    heartbeatMs: config.master.heartbeatSeconds * 1000,
    activeTransfers: init.activeTransfers,
    isMoving: init.isMoving,
    entryGroup: config.entryGroup,
    uplink: init.uplink,
    takeLinkReports: init.takeLinkReports,
    takeClientReports: init.takeClientReports,
    takeOriginReports: init.takeOriginReports,
    originReach,
    onDirectory: async (answer) => {
      await Promise.all([directory.update(answer), updateAddresses()]);
      observe({ type: 'directory', depots: answer.depots.length });
    },
    onHeard: init.onHeard,
    onBack: () => neighbours.lookAgain(),
    onState: (newState) => observe({ type: 'membership', ...newState }),
    onFailure: (failure) => observe({ type: 'master-lost', code: failure.code, detail: failure.detail }),
    nowMs,
    steadyMs: init.steadyMs,
  });
  const isOwn = (address: string) => addresses.isOf(address) || sources.has(address, nowMs());
  const failedChecks = new FailedChecks({ isOwn, nowMs });
  const masterKey = (keyId: string) => directory.masterKey(keyId);
  const challenges = new AddressChallenges({
    identity,
    place: () => place,
    masterKey,
    isOwn,
    noteMaster: (address) => sources.note(address, nowMs()),
    failedChecks,
    nowMs,
  });
  const gate = new TicketGate({
    ownId: config.id,
    ownGroup: config.entryGroup?.id,
    masterKey,
    refetchKeys: () => membership.refetch('key'),
    failedChecks,
  });
  const notices = new PlanNotices({
    ownId: config.id,
    masterKey,
    failedChecks,
    isKnown: (id) => directory.depot(id) !== undefined,
    nowMs,
  });
  // A plan may name a depot that has registered since this one's last heartbeat.
  const ensureKnown = async (id: string) => {
    if (!directory.depot(id)) await membership.refetch('depot');
  };
  const ensureCallerKnown = async (id: string) => {
    if (!directory.depot(id)) await membership.refetch('caller');
  };
  const macs = new PairMacs({ identity, publicKeyOf: (id) => directory.depot(id)?.publicKey });

  /** Opens and closes a connection to another depot, for its round trip. */
  const probeDepot = async ({ id, host, port, addresses }: DepotEntry, signal: AbortSignal) => {
    const { socket, rttMs } = await dial({ purpose: 'depot', host, port, addresses }, signal);
    socket.destroy();
    membership.noteRtt(id, rttMs);
  };
  const neighbours = new NeighbourChecks({
    findDepot: (id) => directory.depot(id),
    probe: probeDepot,
    onUnreached: (id) => void membership.noteUnreached(id),
    steadyMs: init.steadyMs,
  });

  return {
    directory,
    membership,
    neighbours,
    originReach,
    probeDepot,
    gate,
    dial,
    trust,
    proofs: new ProofMaker({ identity, macs, nowMs }),
    checker: new ProofChecker({ depotKey: (id) => directory.depotKey(id), macs, failedChecks, nowMs }),
    ensureKnown,
    ensureCallerKnown,
    findDepot: async (id: string) => {
      await ensureKnown(id);
      return directory.depot(id);
    },
    /** A ticket for another target of a download that runs, or for another way to it. */
    followUp: async (
      from: OpenTicket,
      target: Parameters<typeof originHref>[0],
      avoid?: readonly string[],
    ) => {
      const ticket = await gate.open(await client.followUp(from.text, originHref(target), avoid));
      if (!ticket.ok) throw ticket.error;
      return ticket.value;
    },
    /** Takes note that an accepted connection has proved to be a depot's. */
    noteDepot: (connection: Duplex) => {
      sockets.reclassify(connection, 'depot');
      if (connection instanceof Socket) sources.note(connection.remoteAddress ?? '', nowMs());
    },
    /** Whether connections from an address are those of depots and masters. */
    isOwn,
    answerChallenge: (target: string, clientAddress: string, word: string | undefined) =>
      challenges.answer(target, clientAddress, word),
    /** Reads a notice of a plan: to which depot a connection will be needed. */
    readNotice: (target: string, from: string) => notices.read(target, from),
    /** Reads a notice that a client is about to come. */
    readWayNotice: (target: string, from: string) => notices.readWay(target, from),
    /** Reads a master's question what the connections of a job do: gives its id. */
    readLegsQuestion: (target: string, from: string) =>
      readLegsQuestion(target, from, {
        ownId: config.id,
        masterKey,
        failedChecks,
        nowMs,
      }),
    /** The port that others dial, once the depot listens. */
    ownPort: () => place.port,
    /** Joins the overlay with a listener that is bound, as far as the master lets it; gives the depot's base URL. */
    join: async (boundPort: number): Promise<string> => {
      addresses.setOwnPort(boundPort);
      place = {
        host: config.public?.host ?? config.listen.host,
        port: config.public?.port ?? boundPort,
        tls: init.tls,
      };
      await updateAddresses();
      await membership.start();
      return depotBaseUrl(place);
    },
    /** What `renew` takes where this is the secret now; throws `depot-not-joined`. */
    proofBy: (enrolmentSecret: string | undefined) => proofOf(enrolmentSecret, state),
    /** Takes other authorities and another proof, and asks the master again. */
    renew: (trustedAuthorities: readonly string[], renewed: MastersProof) => {
      trust.renew(trustedAuthorities);
      proof = renewed;
      // What was refused before may be taken now.
      void membership.beat();
    },
  };
}
