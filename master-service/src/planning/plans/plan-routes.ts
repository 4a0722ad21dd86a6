import {
  LonghaulError,
  legsRequestSchema,
  type OriginUrl,
  type PlanRequest,
  parseOriginUrl,
  planRequestSchema,
} from '@longhaul/shared';
import type { FailedChecks } from '@longhaul/shared/service';
import { Router } from 'express';
import type { EmitEvent } from '../../events.ts';
import { parseBody, readBody, unwrap } from '../../http/read-body.ts';
import type { ClientRtts } from '../../measuring/client-rtts.ts';
import type { OverloadGuard } from '../../overload/overload-guard.ts';
import type { DownloadRequest } from './issued-plan.ts';
import type { JobLegs } from './job-legs.ts';
import type { PlanService } from './plan-service.ts';

interface PlanRoutesInit {
  readonly plans: PlanService;
  readonly legs: Pick<JobLegs, 'of'>;
  readonly clientRtts: Pick<ClientRtts, 'noteClient'>;
  readonly overload: Pick<OverloadGuard, 'takePlan'>;
  /** Bounds the tickets that turn out to be none. */
  readonly failedChecks: Pick<FailedChecks, 'hasRoomFor' | 'note'>;
  readonly now: () => number;
  readonly emit: EmitEvent;
}

/** A URL, which JSON may make longer, and some depots' ids. */
const MOST_PLAN_BYTES = 65_536;
/** A ticket. */
const MOST_LEGS_BYTES = 4_096;

/**
 * `POST /v1/plans`: the plan of one download with its reasons, without a redirect. `POST /v1/legs`: what the
 * legs of a running one do now, for whoever holds its ticket.
 */
export function planRoutes(init: PlanRoutesInit): Router {
  const { plans, legs, clientRtts, overload, failedChecks, now, emit } = init;
  const router = Router();
  router.post('/v1/plans', async (request, response) => {
    const planRequest = unwrap(
      parseBody(planRequestSchema, unwrap(await readBody(request, MOST_PLAN_BYTES))),
    );
    const url = unwrap(parseOriginUrl(planRequest.url));
    clientRtts.noteClient(request.socket, now());
    const download = toDownload(planRequest, url, request.socket.remoteAddress ?? '');
    if (!overload.takePlan(download.clientAddress)) throw new LonghaulError('master-busy');
    const answer = unwrap(plans.explain(download, now()));
    emit({ type: 'planned', decision: answer.decision, jobId: answer.jobId, host: url.host });
    const body = JSON.stringify(answer);
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  router.post('/v1/legs', async (request, response) => {
    const { ticket } = unwrap(parseBody(legsRequestSchema, unwrap(await readBody(request, MOST_LEGS_BYTES))));
    const from = request.socket.remoteAddress ?? '';
    if (!failedChecks.hasRoomFor(from)) throw new LonghaulError('ticket-checks-spent');
    const answer = await legs.of(ticket);
    if (!answer.ok && answer.error.code === 'ticket-signature-wrong') failedChecks.note(from);
    const told = unwrap(answer);
    response.setHeader('Cache-Control', 'no-store');
    response.json(told);
  });
  return router;
}

function toDownload(
  { sizeBytes, via, avoid, lanes, kind }: PlanRequest,
  url: OriginUrl,
  clientAddress: string,
): DownloadRequest {
  const options = {
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(via === undefined ? {} : { via }),
    ...(avoid === undefined ? {} : { avoid }),
    ...(lanes === undefined ? {} : { lanes }),
  };
  return { url, options, kind: kind ?? 'get', clientAddress };
}
