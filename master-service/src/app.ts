import { asLonghaulError, formatAuthority, isGetTarget, LonghaulError } from '@longhaul/shared';
import {
  asListenFailure,
  authorityOf,
  ConnectionLimiter,
  DepotSources,
  type TlsMaterial,
} from '@longhaul/shared/service';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { MasterConfig } from './config.ts';
import { AddressProver } from './depots/address-prover.ts';
import { type AskDepot, createAskDepot } from './depots/ask-depot.ts';
import { DepotRegistry } from './depots/depot-registry.ts';
import { depotRoutes } from './depots/depot-routes.ts';
import { DepotService } from './depots/depot-service.ts';
import type { DepotStore } from './depots/depot-store.ts';
import { LegAsker } from './depots/leg-asker.ts';
import { PlanTeller } from './depots/plan-teller.ts';
import type { EmitEvent, MasterEvent } from './events.ts';
import { answerRefusal } from './http/answer-refusal.ts';
import { HttpServer, type Listening } from './http/http-server.ts';
import { setSecurityHeaders } from './http/security-headers.ts';
import { masterKeyOf, type SigningKey } from './keys/signing-key.ts';
import { createMetrics } from './operations/metrics.ts';
import { operationsRoutes } from './operations/operations-routes.ts';
import { pageRoutes } from './operations/page-routes.ts';
import { JobLegs } from './planning/job-legs.ts';
import { LinkTable } from './planning/link-table.ts';
import { planRoutes } from './planning/plan-routes.ts';
import { PlanService } from './planning/plan-service.ts';
import { Planner } from './planning/planner.ts';
import { SizeMemory } from './planning/size-memory.ts';
import { DownloadPolicy } from './policy/download-policy.ts';
import { createGetHandler } from './redirect/get-handler.ts';
import { TicketIssuer } from './tickets/ticket-issuer.ts';

/** Of all connections, kept for depots: each has one at a time. */
const RESERVED_SHARE = 0.05;

export interface MasterDeps {
  readonly config: MasterConfig;
  readonly signingKey: SigningKey;
  readonly enrolmentSecret: string;
  readonly depotStore: DepotStore;
  readonly tls?: TlsMaterial;
  /** Lets a depot prove its address; left out, by asking there. */
  readonly askDepot?: AskDepot;
  /** Where the built page lies. */
  readonly webDir: string;
  readonly version: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onEvent?: (event: MasterEvent) => void;
}

export interface Master {
  /** Reads the registry, binds the address and serves; gives the public base URL. Rejects with a registered code. */
  listen(): Promise<{ readonly url: string }>;
  /** Takes another certificate, which was checked, for new connections. A master without TLS stays so. */
  renewCertificate(tls: TlsMaterial): void;
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

  const registry = new DepotRegistry({
    store: deps.depotStore,
    heartbeatSeconds: config.depots.heartbeatSeconds,
    addresses: config.addresses,
  });
  const links = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const sizes = new SizeMemory();
  const tickets = new TicketIssuer(config.tickets, signingKey);
  const metrics = createMetrics({
    depotStates: () => registry.views(now()).map((depot) => depot.state),
    openConnections: () => limiter.open,
  });
  const emit: EmitEvent = (event) => {
    metrics.record(event);
    deps.onEvent?.(event);
  };
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
  const policy = new DownloadPolicy({
    ...config,
    overlay: () => [
      ...registry.places(now()),
      // Where this master can be reached, as targets of downloads would name it.
      ...(listening ? [authorityOf(listening.url), authorityOf(publicUrl())] : []),
    ],
  });
  const planner = new Planner(config.planner, links);
  const teller = new PlanTeller({ signingKey, registry, now });
  const legAsker = new LegAsker({ signingKey, registry, now });
  const legs = new JobLegs({ tickets, ask: (depot, jobId) => legAsker.ask(depot, jobId), now });
  const plans = new PlanService({ config, policy, planner, registry, sizes, tickets, publicUrl });
  const masterKeys = [masterKeyOf(signingKey)];
  const ask = deps.askDepot ?? createAskDepot({ policy: config.addresses, names: config.names });
  const service = new DepotService({
    registry,
    prover: new AddressProver({ registry, ask, sources, now, emit }),
    links,
    sizes,
    policy,
    tickets,
    planner,
    assumedSizeBytes: config.planner.assumedSizeBytes,
    masterKeys,
    publicUrl,
    emit,
  });

  const api = createApi(emit, [
    depotRoutes({ service, registry, sources, enrolmentSecret, now, emit }),
    planRoutes({ plans, legs, now, emit }),
    operationsRoutes({
      signingKeys: [signingKey],
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
      await registry.load();
      for (const { host } of registry.places(now())) sources.note(host, now());
      const { host, port } = config.listen;
      listening = await server.listen(config.listen).catch((failure: unknown) => {
        throw asListenFailure(failure, formatAuthority(host, port));
      });
      return { url: publicUrl() };
    },
    renewCertificate: (tls) => server.renewCertificate(tls),
    close: () => {
      teller.close();
      legAsker.close();
      return server.close();
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
