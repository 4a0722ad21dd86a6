import { formatAuthority, isGetTarget, LonghaulError, originForm } from '@longhaul/shared';
import {
  asListenFailure,
  authorityOf,
  ConnectionLimiter,
  DepotSources,
  type LastSave,
  type StateFolder,
  type TlsMaterial,
  watchDescriptors,
} from '@longhaul/shared/service';
import { createApi } from './api.ts';
import { InProcessBus } from './bus/in-process-bus.ts';
import { NatsBus } from './bus/nats-bus.ts';
import type { NatsTls } from './bus/nats-connection.ts';
import type { StateBus } from './bus/state-bus.ts';
import { OverlayClock } from './clock/overlay-clock.ts';
import type { MasterConfig, PrefixesConfig } from './config.ts';
import { AddressProver } from './depots/address-prover.ts';
import { type AskDepot, createAskDepot } from './depots/ask-depot.ts';
import { DepotService } from './depots/depot-service.ts';
import type { DepotStore } from './depots/depot-store.ts';
import { createDownloads } from './downloads.ts';
import type { EnrolmentStore } from './enrolment/enrolment-store.ts';
import type { EmitEvent, MasterEvent } from './events.ts';
import { FactExchange } from './facts/fact-exchange.ts';
import { FactKeeper } from './facts/fact-keeper.ts';
import type { FactsFile } from './facts/facts-file.ts';
import { HttpServer, type Listening } from './http/http-server.ts';
import { KeyRing } from './keys/key-ring.ts';
import type { SigningKey } from './keys/signing-key.ts';
import { createKnowledge } from './knowledge.ts';
import { ClientRtts } from './measuring/client-rtts.ts';
import { IdleLinks } from './measuring/idle-links.ts';
import { createRttReader } from './measuring/read-rtt.ts';
import { Health } from './operations/health.ts';
import { createMetrics } from './operations/metrics.ts';
import { OverloadGuard } from './overload/overload-guard.ts';
import { OverlayPlaces } from './policy/overlay-places.ts';
import { PrefixFiles, type PrefixPaths } from './prefixes/prefix-files.ts';
import { WhereaboutsLookUp } from './prefixes/whereabouts.ts';
import { createGetHandler } from './redirect/get-handler.ts';
import { EntryGroups } from './tickets/entry-groups.ts';

/** The name of a master that no others are met by. */
const ALONE = 'here';
/** Of all connections, kept for depots: each has one at a time. */
const RESERVED_SHARE = 0.05;

export interface MasterDeps {
  readonly config: MasterConfig;
  /** What signs until it is renewed. */
  readonly signingKey: SigningKey;
  /** Where further keys outlive the process; left out, they do not. */
  readonly keyFolder?: StateFolder;
  readonly enrolmentSecret: string;
  readonly depotStore: DepotStore;
  /** Where join tokens and keys outlive the process; left out, they do not. */
  readonly enrolmentStore?: EnrolmentStore;
  readonly tls?: TlsMaterial;
  /** PEM texts of the authorities that `trustedCaFiles` names. */
  readonly authorities?: readonly string[];
  /** Where the files of `prefixes` lie that the configuration names. */
  readonly prefixPaths?: PrefixPaths;
  /** Lets a depot prove its address; left out, by asking there. */
  readonly askDepot?: AskDepot;
  /** Seconds that are left of each certificate, by the key that names it. */
  readonly certificateSecondsLeft?: () => Readonly<Record<string, number>>;
  /** Where the built page lies. */
  readonly webDir: string;
  readonly version: string;
  /** Where facts outlive the process; left out, they do not. */
  readonly factsFile?: FactsFile;
  /** What other masters are met on; left out, the bus that the configuration names. */
  readonly bus?: StateBus;
  /** What `bus.tls` and `bus.trustedCaFiles` name. */
  readonly busTls?: NatsTls;
  /** Milliseconds by a clock that is never set; left out, the process's own. */
  readonly steadyMs?: () => number;
  /** 0 to below 1, evenly; left out, by chance. */
  readonly random?: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onEvent?: (event: MasterEvent) => void;
}

export interface Master {
  /**
   * Reads the registry, binds the address and serves; gives the public base URL. Rejects with a registered
   * code, `shutting-down` where `close` came first.
   */
  listen(): Promise<{ readonly url: string }>;
  /** Takes another certificate, which was checked, for new connections. A master without TLS stays so. */
  renewCertificate(tls: TlsMaterial): void;
  /** Takes other authorities that vouch for depots' certificates. */
  renewAuthorities(authorities: readonly string[]): void;
  /** Takes other certificates for the next connection to a NATS server. A bus without TLS stays so. */
  renewBusCertificate(tls: NatsTls): void;
  /**
   * Reads files of prefixes again; those with mistakes change nothing. Gives whether there was none: then it
   * takes another site, too.
   */
  reloadPrefixes(prefixes: PrefixesConfig, paths: PrefixPaths): Promise<boolean>;
  /**
   * How long a master that is asked to end should serve on, so that routes which follow its health lead
   * elsewhere before.
   */
  drainMs(): number;
  /** What `close` still has to write. */
  lastSave(): LastSave;
  /**
   * Says that it drains, and serves on for so long; then stops accepting, and finishes running requests for at most a
   * second. Called again with less time when somebody is in a hurry.
   */
  close(drainMs?: number): Promise<void>;
}

/** Builds a master; it does nothing before `listen`. */
export function createMaster(deps: MasterDeps): Master {
  const { config, signingKey, enrolmentSecret } = deps;
  let listening: Listening | undefined;
  let isEnding = false;
  let closing: Promise<void> | undefined;
  const steadyMs = deps.steadyMs ?? (() => performance.now());
  const clock = new OverlayClock({
    wallMs: deps.now,
    steadyMs,
    onDoubt: (byMs) => emit({ type: 'clock-doubted', byMs }),
    onSet: (byMs) => {
      // What was learned is as old as before, whatever the time is now, and what clients were given as long ago.
      knowledge.caps?.shift(byMs);
      facts.shift(byMs);
      emit({ type: 'clock-set', byMs });
    },
  });
  const now = () => clock.now();
  // Port 0 in the public URL stands for the port really bound.
  const publicUrl = (): string =>
    config.publicUrl?.replace(/:0$/, `:${listening?.port}`) ?? listening?.url ?? '';

  const masterUrl = () => (config.publicUrl === undefined ? '' : publicUrl());

  const nats =
    config.bus &&
    new NatsBus({
      site: config.bus.site,
      access: { servers: config.bus.servers, ...(deps.busTls ? { tls: deps.busTls } : {}) },
      onConnected: (server) => emit({ type: 'bus-connected', server }),
      onFailed: (code, detail) => emit({ type: 'bus-failed', code, detail }),
    });
  const bus = deps.bus ?? nats ?? new InProcessBus(ALONE);
  const knowledge = createKnowledge({
    config,
    depotStore: deps.depotStore,
    enrolmentStore: deps.enrolmentStore,
    emit: (event) => emit(event),
    source: bus.name,
    epoch: deps.factsFile?.epochAfter(now()) ?? now(),
    startedAtMs: now(),
  });
  const { facts, masters, registry, links, measured } = knowledge;
  const groups = new EntryGroups(config.entryGroups);
  const announce = () => masters.announce(publicUrl(), keys.published, now());
  const keys = new KeyRing({
    first: signingKey,
    state: deps.keyFolder,
    renewMs: config.keys.renewSeconds * 1000,
    aheadMs: config.keys.aheadSeconds * 1000,
    lifeMs: config.tickets.lifeSeconds * 1000,
    canTell: () => bus.status().isConnected,
    now,
    steadyMs,
    onPublished: () => {
      announce();
      emit({ type: 'keys-published', keyId: keys.current.keyId, keys: keys.published.length });
    },
    onWaiting: () => emit({ type: 'keys-waiting', code: 'key-renewal-waits' }),
    onFailure: (error) => emit({ type: 'failed', error }),
  });
  const metrics = createMetrics({
    depotStates: () => registry.views(now()).map((depot) => depot.state),
    openConnections: () => limiter.open,
    facts: () => facts.store.counts(),
    isBusConnected: () => bus.status().isConnected,
    prefixTables: () => prefixFiles.views,
    measuredPrefixes: () => measured.size,
    places: () => whereabouts.counts,
    certificateSecondsLeft: deps.certificateSecondsLeft ?? (() => ({})),
  });
  const emit: EmitEvent = (event) => {
    metrics.record(event);
    deps.onEvent?.(event);
  };
  const exchange = new FactExchange({
    facts,
    bus,
    now,
    steadyMs,
    onRefused: (code, from, refused) => emit({ type: 'facts-refused', code, from, facts: refused }),
  });
  const health = new Health({ hasCaughtUp: () => exchange.hasCaughtUp, steadyMs });
  const keeper = new FactKeeper({
    facts,
    file: deps.factsFile,
    now,
    steadyMs,
    sayAgain: (nowMs) => masters.sayAgain(nowMs),
    saveAgain: () => knowledge.enrolment.saveAgain(steadyMs()),
    onFailure: (error) => emit({ type: 'failed', error }),
    onRestored: (restored, isSetAside) => {
      const { outlived, refused } = restored;
      emit({ type: 'facts-restored', facts: restored.facts });
      if (isSetAside) emit({ type: 'facts-set-aside', facts: outlived });
      if (outlived > 0) emit({ type: 'facts-refused', code: 'fact-outlived', from: 'file', facts: outlived });
      if (refused > 0) emit({ type: 'facts-refused', code: 'fact-malformed', from: 'file', facts: refused });
    },
  });
  let { site } = config.prefixes;
  const prefixFiles = new PrefixFiles(deps.prefixPaths ?? {}, emit);
  const whereabouts = new WhereaboutsLookUp({ files: prefixFiles, measured, site: () => site });
  const sources = new DepotSources();
  const { connections, connectionsPerNetwork, waitingPerNetwork, unusedPerNetwork } = config.limits;
  const limiter = new ConnectionLimiter({
    limits: {
      most: connections,
      reserved: Math.floor(connections * RESERVED_SHARE),
      perNetwork: connectionsPerNetwork,
      waitingPerNetwork,
      unusedPerNetwork,
    },
    isTrusted: (address) => sources.has(address, now()),
    onRefused: (refused) => emit({ type: 'connection-refused', ...refused }),
  });
  const overlay = new OverlayPlaces(
    () => [
      ...registry.places(now()),
      ...groups.places,
      // Where this master can be reached, as targets of downloads would name it.
      ...(listening ? [authorityOf(listening.url), authorityOf(publicUrl())] : []),
    ],
    now,
  );
  const ask =
    deps.askDepot ?? createAskDepot({ policy: config.addresses, names: config.names, signer: keys, now });
  const downloads = createDownloads({
    config,
    knowledge,
    keys,
    overlay,
    groups,
    whereabouts,
    ask,
    authorities: deps.authorities ?? [],
    publicUrl,
    now,
    steadyMs,
    random: deps.random,
    emit,
  });
  const service = new DepotService({
    ...knowledge,
    ...downloads,
    prover: new AddressProver({ registry, ask, sources, now, emit }),
    assumedSizeBytes: config.planner.assumedSizeBytes,
    idleLinks: new IdleLinks({ links }),
    groups,
    emit,
  });
  const clientRtts = new ClientRtts({
    clients: knowledge.clients,
    site: () => site,
    isDepot: (id) => knowledge.registry.record(id) !== undefined,
    readRtt: createRttReader(),
  });
  const overload = new OverloadGuard({ steadyMs });
  const api = createApi({
    config,
    knowledge,
    downloads,
    service,
    sources,
    clientRtts,
    overload,
    whereabouts,
    prefixFiles,
    health,
    metrics,
    enrolmentSecret,
    keys,
    webDir: deps.webDir,
    version: deps.version,
    clock,
    masterUrl,
    emit,
  });
  const { plans } = downloads;
  const handleGet = createGetHandler({
    plans,
    clientRtts,
    overload,
    masterUrl,
    now,
    emit,
    onRedirected: downloads.tell,
  });
  const server = new HttpServer(
    (request, response) => {
      request.url = originForm(request.url ?? '');
      if (isGetTarget(request.url)) handleGet(request, response);
      else api(request, response);
    },
    {
      tls: deps.tls,
      limiter,
      onRefused: (code) => emit({ type: 'refused', code }),
    },
  );

  const endWatch = watchDescriptors(() => emit({ type: 'descriptors-out', code: 'descriptors-out' }));
  let hasSaved = false;
  const endServing = async () => {
    await server.close();
    await keys.close();
    await exchange.close();
    // A full disk keeps nothing from ending.
    await knowledge.enrolment.save().catch((error: unknown) => emit({ type: 'failed', error }));
  };
  const end = async () => {
    endWatch();
    health.close();
    downloads.close();
    // Much to write takes longer than to end what runs: the one goes on beside the other.
    await keeper.close(endServing());
    hasSaved = true;
  };
  return {
    async listen() {
      // What is kept comes first, whatever else takes its time: a master that is asked to end by then writes it again.
      keeper.start();
      knowledge.enrolment.load(now());
      await registry.load(now());
      await prefixFiles.start();
      if (isEnding) throw new LonghaulError('shutting-down');
      for (const { host } of registry.places(now())) sources.note(host, now());
      const { host, port } = config.listen;
      listening = await server.listen(config.listen).catch((failure: unknown) => {
        throw asListenFailure(failure, formatAuthority(host, port));
      });
      overlay.noteChange();
      announce();
      keys.start();
      nats?.start();
      health.start();
      void exchange.start();
      return { url: publicUrl() };
    },
    renewCertificate: (tls) => server.renewCertificate(tls),
    renewAuthorities: downloads.renewAuthorities,
    renewBusCertificate: (tls) => nats?.renew(tls),
    async reloadPrefixes(prefixes, paths) {
      const isTaken = await prefixFiles.reload(paths);
      if (isTaken) ({ site } = prefixes);
      return isTaken;
    },
    lastSave: () => ({ withinMs: keeper.closesWithinMs, isDone: hasSaved }),
    drainMs: () => (health.isFollowed ? config.timeouts.drainSeconds * 1000 : 0),
    async close(drainMs = 0) {
      isEnding = true;
      await health.drain(drainMs);
      closing ??= end();
      await closing;
    },
  };
}
