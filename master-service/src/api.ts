import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import { authorityOf, type DepotSources, FailedChecks } from '@longhaul/shared/service';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { OverlayClock } from './clock/overlay-clock.ts';
import type { MasterConfig } from './config.ts';
import { depotRoutes } from './depots/depot-routes.ts';
import type { DepotService } from './depots/depot-service.ts';
import { HeartbeatRoom } from './depots/heartbeat-room.ts';
import type { Downloads } from './downloads.ts';
import { BoundedChecks } from './enrolment/depot-authentication.ts';
import { enrolmentRoutes } from './enrolment/enrolment-routes.ts';
import type { EmitEvent } from './events.ts';
import { feedbackRoutes } from './feedback/feedback-routes.ts';
import { FeedbackService } from './feedback/feedback-service.ts';
import { answerRefusal } from './http/answer-refusal.ts';
import { setSecurityHeaders } from './http/security-headers.ts';
import type { Signer } from './keys/key-ring.ts';
import type { Knowledge } from './knowledge.ts';
import type { ClientRtts } from './measuring/client-rtts.ts';
import type { Health } from './operations/health.ts';
import type { MasterMetrics } from './operations/metrics.ts';
import { operationsRoutes } from './operations/operations-routes.ts';
import { pageRoutes } from './operations/page-routes.ts';
import { outcomeRoutes } from './outcomes/outcome-routes.ts';
import type { OverloadGuard } from './overload/overload-guard.ts';
import { linkRoutes } from './planning/links/link-routes.ts';
import { planRoutes } from './planning/plans/plan-routes.ts';
import type { PrefixFiles } from './prefixes/prefix-files.ts';
import { prefixRoutes } from './prefixes/prefix-routes.ts';
import type { WhereaboutsLookUp } from './prefixes/whereabouts.ts';

interface ApiInit {
  readonly config: Pick<MasterConfig, 'metricsNetworks' | 'metricsHosts' | 'publicUrl' | 'note' | 'depots'>;
  readonly knowledge: Knowledge;
  readonly downloads: Downloads;
  readonly service: DepotService;
  readonly sources: DepotSources;
  readonly overload: OverloadGuard;
  readonly clientRtts: ClientRtts;
  readonly whereabouts: WhereaboutsLookUp;
  readonly prefixFiles: PrefixFiles;
  readonly health: Health;
  readonly metrics: MasterMetrics;
  readonly enrolmentSecret: string;
  readonly keys: Signer;
  readonly webDir: string;
  readonly version: string;
  readonly clock: OverlayClock;
  /** Where people find this master; empty where its configuration does not say. */
  readonly masterUrl: () => string;
  readonly emit: EmitEvent;
}

/**
 * All that a master answers over HTTP but redirects, which stand before it: its API, its pages, and refusals
 * of everything else.
 */
export function createApi(init: ApiInit): Express {
  const { masterUrl, emit } = init;
  const api = express();
  api.disable('x-powered-by');
  api.use((_request, response, next) => {
    setSecurityHeaders(response);
    next();
  });
  for (const router of routersOf(init)) api.use(router);
  api.use(() => {
    throw new LonghaulError('not-found');
  });
  const onError: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
    const error = asRefusal(thrown);
    if (error.code === 'internal') emit({ type: 'failed', error: thrown });
    else emit({ type: 'refused', code: error.code });
    if (response.headersSent) next(thrown);
    else answerRefusal(request, response, error, {}, masterUrl());
  };
  api.use(onError);
  return api;
}

function routersOf(init: ApiInit): readonly express.Router[] {
  const { knowledge, downloads, service, sources, clientRtts, enrolmentSecret, whereabouts, clock, emit } =
    init;
  const now = () => clock.now();
  const { masters, registry, enrolment, links, wishes } = knowledge;
  const { plans, legs, jobs, outcomes, downChecks } = downloads;
  const { metricsNetworks, metricsHosts, publicUrl, note = null } = init.config;
  const publicHosts = publicUrl === undefined ? [] : [authorityOf(publicUrl).host];
  const operators = { networks: metricsNetworks, hosts: metricsHosts, publicHosts };
  const outcomeOf = (jobId: string) => outcomes.of(jobId);
  const statusOf = ({ id, state, heardAgoMs, problem }: ReturnType<typeof registry.views>[number]) => ({
    id,
    state,
    ...(heardAgoMs === undefined ? {} : { heardAgoMs }),
    ...(problem ? { problem } : {}),
  });
  const isDepots = (address: string) => sources.has(address, now());
  const failedChecks = new FailedChecks({ isOwn: isDepots, nowMs: now });
  const checks = new BoundedChecks({ failed: failedChecks, isDepots });
  return [
    depotRoutes({
      service,
      registry,
      downChecks,
      heartbeatRoom: new HeartbeatRoom(init.config.depots.heartbeatSeconds * 1000),
      sources,
      checks,
      enrolment,
      enrolmentSecret,
      takesSecret: init.config.depots.enrolment === 'secret',
      clientRtts,
      clock,
      emit,
    }),
    enrolmentRoutes({
      enrolment,
      registeredKey: (id) => registry.record(id)?.publicKey,
      keys: init.keys,
      enrolmentSecret,
      checks,
      now,
      emit,
    }),
    planRoutes({ plans, legs, overload: init.overload, failedChecks, clientRtts, now, emit }),
    outcomeRoutes({ outcomes, operators }),
    feedbackRoutes({
      service: new FeedbackService({
        jobs,
        book: wishes,
        outcomeOf,
        onMeasured: (job, measured, nowMs) => outcomes.noteClient(job, measured, nowMs),
        emit,
      }),
      book: wishes,
      operators,
      now,
    }),
    linkRoutes({ links, operators, now }),
    prefixRoutes({ whereabouts, files: init.prefixFiles, operators, now }),
    operationsRoutes({
      health: init.health,
      masterKeys: () => masters.keys(),
      metrics: init.metrics,
      operators,
      status: () => ({ note, depots: registry.views(now()).map(statusOf), version: init.version }),
    }),
    pageRoutes(init.webDir),
  ];
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
