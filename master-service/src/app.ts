import { asLonghaulError, clientPrefix, formatAuthority, isGetTarget, LonghaulError } from '@longhaul/shared';
import {
  asListenFailure,
  authorityOf,
  ConnectionLimiter,
  DepotSources,
  type TlsMaterial,
} from '@longhaul/shared/service';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { InProcessBus } from './bus/in-process-bus.ts';
import { NatsBus } from './bus/nats-bus.ts';
import type { NatsTls } from './bus/nats-connection.ts';
import type { StateBus } from './bus/state-bus.ts';
import type { MasterConfig, PrefixesConfig } from './config.ts';
import { AddressProver } from './depots/address-prover.ts';
import { type AskDepot, createAskDepot } from './depots/ask-depot.ts';
import { DEPOT_FACTS, DEPOT_HEARD } from './depots/depot-facts.ts';
import { DepotRegistry } from './depots/depot-registry.ts';
import { depotRoutes } from './depots/depot-routes.ts';
import { DepotService } from './depots/depot-service.ts';
import type { DepotStore } from './depots/depot-store.ts';
import { DownChecks } from './depots/down-checks.ts';
import { LegAsker } from './depots/leg-asker.ts';
import { PlanTeller } from './depots/plan-teller.ts';
import { EnrolmentBook } from './enrolment/enrolment-book.ts';
import { ENROLMENT_FACTS } from './enrolment/enrolment-facts.ts';
import { enrolmentRoutes } from './enrolment/enrolment-routes.ts';
import { type EnrolmentStore, MemoryEnrolmentStore } from './enrolment/enrolment-store.ts';
import type { EmitEvent, MasterEvent } from './events.ts';
import { FactExchange } from './facts/fact-exchange.ts';
import { FactKeeper } from './facts/fact-keeper.ts';
import { Facts } from './facts/facts.ts';
import type { FactsFile } from './facts/facts-file.ts';
import { FEEDBACK_FACTS, FeedbackBook } from './feedback/feedback-book.ts';
import { feedbackRoutes } from './feedback/feedback-routes.ts';
import { FeedbackService } from './feedback/feedback-service.ts';
import { answerRefusal } from './http/answer-refusal.ts';
import { HttpServer, type Listening } from './http/http-server.ts';
import { setSecurityHeaders } from './http/security-headers.ts';
import { KnownMasters, MASTER_FACTS } from './keys/known-masters.ts';
import { masterKeyOf, type SigningKey } from './keys/signing-key.ts';
import { CLIENT_FACTS, ClientTable } from './measuring/client-table.ts';
import { IdleLinks } from './measuring/idle-links.ts';
import { OriginProbes, PROBE_FACTS } from './measuring/origin-probes.ts';
import { ORIGIN_FACTS, OriginTable } from './measuring/origin-table.ts';
import { createMetrics } from './operations/metrics.ts';
import { operationsRoutes } from './operations/operations-routes.ts';
import { pageRoutes } from './operations/page-routes.ts';
import { JOB_FACTS, OutcomeBook } from './outcomes/outcome-book.ts';
import { outcomeRoutes } from './outcomes/outcome-routes.ts';
import { RecentJobs } from './outcomes/recent-jobs.ts';
import { EndLinks } from './planning/end-links.ts';
import { JobLegs } from './planning/job-legs.ts';
import { linkEvidence } from './planning/link-evidence.ts';
import { linkRoutes } from './planning/link-routes.ts';
import { LINK_FACTS, LinkTable } from './planning/link-table.ts';
import { planRoutes } from './planning/plan-routes.ts';
import { PlanService } from './planning/plan-service.ts';
import { Planner } from './planning/planner.ts';
import { SIZE_FACTS, SizeMemory } from './planning/size-memory.ts';
import { DownloadPolicy } from './policy/download-policy.ts';
import { OverlayPlaces } from './policy/overlay-places.ts';
import { RateCaps, SPENT_FACTS } from './policy/rate-caps.ts';
import { MeasuredPrefixes, PREFIX_FACTS } from './prefixes/measured-prefixes.ts';
import { PrefixFiles, type PrefixPaths } from './prefixes/prefix-files.ts';
import { prefixRoutes } from './prefixes/prefix-routes.ts';
import { WhereaboutsLookUp } from './prefixes/whereabouts.ts';
import { createGetHandler } from './redirect/get-handler.ts';
import { EntryGroups } from './tickets/entry-groups.ts';
import { TicketIssuer } from './tickets/ticket-issuer.ts';

/** Of all connections, kept for depots: each has one at a time. */
const RESERVED_SHARE = 0.05;

/** Everything that is learned here, by the rooms that know what it means. */
const FACT_KINDS = [
  ...DEPOT_FACTS,
  ...ENROLMENT_FACTS,
  ...LINK_FACTS,
  ...CLIENT_FACTS,
  ...ORIGIN_FACTS,
  ...PROBE_FACTS,
  ...SIZE_FACTS,
  ...SPENT_FACTS,
  ...MASTER_FACTS,
  ...PREFIX_FACTS,
  ...JOB_FACTS,
  ...FEEDBACK_FACTS,
];

export interface MasterDeps {
  readonly config: MasterConfig;
  readonly signingKey: SigningKey;
  readonly enrolmentSecret: string;
  readonly depotStore: DepotStore;
  /** Where join tokens and keys outlive the process; left out, they do not. */
  readonly enrolmentStore?: EnrolmentStore;
  readonly tls?: TlsMaterial;
  /** Where the files of `prefixes` lie that the configuration names. */
  readonly prefixPaths?: PrefixPaths;
  /** Lets a depot prove its address; left out, by asking there. */
  readonly askDepot?: AskDepot;
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
  /** Reads the registry, binds the address and serves; gives the public base URL. Rejects with a registered code. */
  listen(): Promise<{ readonly url: string }>;
  /** Takes another certificate, which was checked, for new connections. A master without TLS stays so. */
  renewCertificate(tls: TlsMaterial): void;
  /** Takes other certificates for the next connection to a NATS server. A bus without TLS stays so. */
  renewBusCertificate(tls: NatsTls): void;
  /** Takes another site, and reads files of prefixes again; those with mistakes change nothing. */
  reloadPrefixes(prefixes: PrefixesConfig, paths: PrefixPaths): Promise<void>;
  /** Stops accepting, finishes running requests for at most a second. */
  close(): Promise<void>;
}

/** Builds a master; it does nothing before `listen`. */
export function createMaster(deps: MasterDeps): Master {
  const { config, signingKey, enrolmentSecret, now } = deps;
  let listening: Listening | undefined;
  // Port 0 in the public URL stands for the port really bound.
  const publicUrl = (): string =>
    config.publicUrl?.replace(/:0$/, `:${listening?.port}`) ?? listening?.url ?? '';

  const nats =
    config.bus &&
    new NatsBus({
      site: config.bus.site,
      access: { servers: config.bus.servers, ...(deps.busTls ? { tls: deps.busTls } : {}) },
      onConnected: (server) => emit({ type: 'bus-connected', server }),
      onFailed: (code, detail) => emit({ type: 'bus-failed', code, detail }),
    });
  const bus = deps.bus ?? nats ?? new InProcessBus(signingKey.keyId);
  const facts = new Facts({
    kinds: FACT_KINDS,
    source: bus.name,
    epoch: deps.factsFile?.epochAfter(now()) ?? now(),
    startedAtMs: now(),
  });
  const masters = new KnownMasters(facts);
  const enrolment = new EnrolmentBook({
    facts,
    store: deps.enrolmentStore ?? new MemoryEnrolmentStore(),
    emit: (event) => emit(event),
  });
  const registry = new DepotRegistry({
    facts,
    enrolment,
    store: deps.depotStore,
    heartbeatSeconds: config.depots.heartbeatSeconds,
    addresses: config.addresses,
  });
  const links = new LinkTable(config.links, config.planner.assumptions.windowBytes, facts);
  const clients = new ClientTable(facts);
  const origins = new OriginTable(facts);
  const sizes = new SizeMemory(facts);
  const caps = config.public ? new RateCaps(config.public, facts) : undefined;
  const groups = new EntryGroups(config.entryGroups);
  const tickets = new TicketIssuer(config.tickets, signingKey, groups, (keyId) => masters.verifier(keyId));
  const metrics = createMetrics({
    depotStates: () => registry.views(now()).map((depot) => depot.state),
    openConnections: () => limiter.open,
    facts: () => facts.store.counts(),
    isBusConnected: () => bus.status().isConnected,
    prefixTables: () => prefixFiles.views,
    measuredPrefixes: () => measured.size,
    places: () => whereabouts.counts,
  });
  const emit: EmitEvent = (event) => {
    metrics.record(event);
    deps.onEvent?.(event);
  };
  const steadyMs = deps.steadyMs ?? (() => performance.now());
  const exchange = new FactExchange({
    facts,
    bus,
    now,
    steadyMs,
    onRefused: (code, from, refused) => emit({ type: 'facts-refused', code, from, facts: refused }),
  });
  const keeper = new FactKeeper({
    facts,
    file: deps.factsFile,
    now,
    steadyMs,
    onFailure: (error) => emit({ type: 'failed', error }),
    onClockSet: (byMs) => emit({ type: 'clock-set', byMs }),
    onRestored: (restored, refused) => {
      emit({ type: 'facts-restored', facts: restored });
      if (refused > 0) emit({ type: 'facts-refused', code: 'fact-malformed', from: 'file', facts: refused });
    },
  });
  let { site } = config.prefixes;
  const prefixFiles = new PrefixFiles(deps.prefixPaths ?? {}, emit);
  const measured = new MeasuredPrefixes(facts);
  const whereabouts = new WhereaboutsLookUp({ files: prefixFiles, measured, site: () => site });
  const sources = new DepotSources();
  const { connections, connectionsPerNetwork, waitingPerNetwork } = config.limits;
  const limiter = new ConnectionLimiter({
    limits: {
      most: connections,
      reserved: Math.floor(connections * RESERVED_SHARE),
      perNetwork: connectionsPerNetwork,
      waitingPerNetwork,
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
  const policy = new DownloadPolicy({ ...config, overlay });
  const { windowBytes } = config.planner.assumptions;
  const ends = new EndLinks({ links, clients, origins, windowBytes });
  const planner = new Planner(config.planner, links, ends);
  const teller = new PlanTeller({ signingKey, registry, now });
  const legAsker = new LegAsker({ signingKey, registry, now });
  const jobs = new RecentJobs();
  const wishes = new FeedbackBook(facts);
  const outcomes = new OutcomeBook({
    facts,
    jobs,
    emit,
    onTrust: (depot, isTrusted) => {
      if (!isTrusted) links.forgetFrom(depot);
      emit({ type: 'depot-trust', depot, isTrusted });
    },
    onWorked: ({ network }, depots, nowMs) => {
      for (const depot of depots) wishes.noteWorked(network, depot, nowMs);
    },
  });
  const outcomeOf = (jobId: string) => outcomes.of(jobId);
  const legs = new JobLegs({
    tickets,
    ask: (depot, jobId) => legAsker.ask(depot, jobId),
    outcomeOf,
    now,
  });
  const probes = new OriginProbes({
    facts,
    origins,
    links,
    onProbe: (outcome) => emit({ type: 'origin-probe', outcome }),
  });
  const ask = deps.askDepot ?? createAskDepot({ policy: config.addresses, names: config.names });
  const downChecks = new DownChecks({ registry, ask, now, emit });
  const plans = new PlanService({
    config,
    policy,
    planner,
    registry,
    sizes,
    tickets,
    groups,
    whereabouts,
    ends,
    probes,
    publicUrl,
    caps,
    onCameBack: (entry) => downChecks.suspect(entry),
    wishes,
    evidence: (to, from, nowMs) => linkEvidence(links, to, from, nowMs),
    ...(deps.random ? { random: deps.random } : {}),
    onIssued: ({ jobId, chain, alternatives, lanes, host, isToLearn }, { clientAddress }, { basis }) => {
      jobs.add({ jobId, chain, alternatives, lanes, host, basis, network: clientPrefix(clientAddress) });
      if (isToLearn) emit({ type: 'explored', jobId, host });
    },
  });
  links.onChange(() => plans.noteLinks());
  for (const kind of [...DEPOT_FACTS, ...ENROLMENT_FACTS]) {
    facts.store.watch(kind, () => {
      plans.noteDepots();
      // That it was heard moves no depot.
      if (kind !== DEPOT_HEARD) overlay.noteChange();
    });
  }
  const service = new DepotService({
    registry,
    enrolment,
    downChecks,
    prover: new AddressProver({ registry, ask, sources, now, emit }),
    links,
    sizes,
    policy,
    tickets,
    planner,
    assumedSizeBytes: config.planner.assumedSizeBytes,
    masters,
    clients,
    origins,
    idleLinks: new IdleLinks({ links }),
    outcomes,
    probes,
    emit,
  });

  const api = createApi(emit, [
    depotRoutes({
      service,
      registry,
      downChecks,
      sources,
      enrolment,
      enrolmentSecret,
      takesSecret: config.depots.enrolment === 'secret',
      now,
      emit,
    }),
    enrolmentRoutes({
      enrolment,
      registeredKey: (id) => registry.record(id)?.publicKey,
      signingKey,
      enrolmentSecret,
      now,
      emit,
    }),
    planRoutes({ plans, legs, now, emit }),
    outcomeRoutes({ outcomes, metricsNetworks: config.metricsNetworks }),
    feedbackRoutes({
      service: new FeedbackService({ jobs, book: wishes, outcomeOf, emit }),
      book: wishes,
      metricsNetworks: config.metricsNetworks,
      now,
    }),
    linkRoutes({ links, metricsNetworks: config.metricsNetworks, now }),
    prefixRoutes({ whereabouts, files: prefixFiles, metricsNetworks: config.metricsNetworks, now }),
    operationsRoutes({
      masterKeys: () => masters.keys(),
      metrics,
      metricsNetworks: config.metricsNetworks,
      status: () => ({
        note: config.note ?? null,
        depots: registry.views(now()).map(({ id, state, problem }) => ({
          id,
          state,
          ...(problem ? { problem } : {}),
        })),
        version: deps.version,
      }),
    }),
    pageRoutes(deps.webDir),
  ]);
  const handleGet = createGetHandler({ plans, now, emit, onRedirected: (chain) => void teller.tell(chain) });
  const server = new HttpServer(
    (request, response) => {
      if (isGetTarget(request.url ?? '')) handleGet(request, response);
      else api(request, response);
    },
    {
      tls: deps.tls,
      limiter,
      onRefused: (code) => emit({ type: 'refused', code }),
    },
  );

  return {
    async listen() {
      keeper.start();
      await prefixFiles.start();
      enrolment.load(now());
      await registry.load(now());
      for (const { host } of registry.places(now())) sources.note(host, now());
      const { host, port } = config.listen;
      listening = await server.listen(config.listen).catch((failure: unknown) => {
        throw asListenFailure(failure, formatAuthority(host, port));
      });
      overlay.noteChange();
      masters.announce(publicUrl(), [masterKeyOf(signingKey)], now());
      nats?.start();
      void exchange.start();
      return { url: publicUrl() };
    },
    renewCertificate: (tls) => server.renewCertificate(tls),
    renewBusCertificate: (tls) => nats?.renew(tls),
    reloadPrefixes: (prefixes, paths) => {
      site = prefixes.site;
      return prefixFiles.reload(paths);
    },
    async close() {
      teller.close();
      downChecks.close();
      legAsker.close();
      await server.close();
      await exchange.close();
      await enrolment.save();
      await keeper.close();
    },
  };
}

function createApi(emit: EmitEvent, routers: readonly express.Router[]): Express {
  const api = express();
  api.disable('x-powered-by');
  api.use((_request, response, next) => {
    setSecurityHeaders(response);
    next();
  });
  for (const router of routers) api.use(router);
  api.use(() => {
    throw new LonghaulError('not-found');
  });
  const onError: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
    const error = asRefusal(thrown);
    if (error.code === 'internal') emit({ type: 'failed', error: thrown });
    else emit({ type: 'refused', code: error.code });
    if (response.headersSent) next(thrown);
    else answerRefusal(request, response, error);
  };
  api.use(onError);
  return api;
}

/** Express and its file server throw errors with a status of their own, for example for a broken percent-encoding. */
function asRefusal(thrown: unknown): LonghaulError {
  if (thrown instanceof LonghaulError || !(thrown instanceof Error) || !('status' in thrown)) {
    return asLonghaulError(thrown);
  }
  const { status } = thrown;
  if (status === 404) return new LonghaulError('not-found');
  const isClients = typeof status === 'number' && status >= 400 && status < 500;
  return isClients ? new LonghaulError('bad-request', { cause: thrown }) : asLonghaulError(thrown);
}
