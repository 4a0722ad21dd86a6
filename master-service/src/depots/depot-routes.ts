import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  DEPOT_ID,
  followUpRequestSchema,
  HEADERS,
  heartbeatRequestSchema,
  LonghaulError,
  type RequestStamp,
  type Result,
  refuse,
  registerRequestSchema,
} from '@longhaul/shared';
import { type DepotSources, proveAnswer, readClaims } from '@longhaul/shared/service';
import { type Request, type Response, Router } from 'express';
import type { EmitEvent } from '../events.ts';
import { parseBody, readBody, unwrap } from '../http/read-body.ts';
import type { ClientRtts } from '../measuring/client-rtts.ts';
import { checkEnrolment, checkSignature, type DepotRequest } from './depot-authentication.ts';
import { DepotLines } from './depot-lines.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DepotService } from './depot-service.ts';
import type { DownChecks } from './down-checks.ts';

const REGISTRATION_PATH = '/v1/depots';
const TRIAL_PATH = '/v1/depots/trial';

interface DepotRoutesInit {
  readonly service: DepotService;
  readonly registry: DepotRegistry;
  readonly downChecks: Pick<DownChecks, 'suspect'>;
  readonly sources: DepotSources;
  readonly enrolmentSecret: string;
  readonly clientRtts: Pick<ClientRtts, 'noteDepot'>;
  readonly now: () => number;
  readonly emit: EmitEvent;
}

/**
 * `POST /v1/depots`, `/v1/depots/trial`, `/v1/depots/<id>/heartbeat`, `/v1/depots/<id>/follow-ups`. Bodies are read raw,
 * because MACs and signatures are over their bytes. Every 2xx answer proves itself with the secret's MAC.
 */
export function depotRoutes({
  service,
  registry,
  downChecks,
  sources,
  enrolmentSecret,
  clientRtts,
  now,
  emit,
}: DepotRoutesInit): Router {
  const router = Router();
  const lines = new DepotLines((id) => downChecks.suspect(id));

  /** Tells of refusals: a depot that is set up wrongly shall be seen at the master, too. */
  const post = (path: string, handle: (request: Request, response: Response) => Promise<void>): void => {
    router.post(path, async (request, response) => {
      try {
        await handle(request, response);
      } catch (thrown) {
        if (thrown instanceof LonghaulError) {
          const depot = DEPOT_ID.test(idOf(request)) ? { depot: idOf(request) } : {};
          emit({
            type: 'depot-refused',
            code: thrown.code,
            ...depot,
            address: request.socket.remoteAddress ?? '',
          });
        }
        throw thrown;
      }
    });
  };

  const answer = (response: ServerResponse, { claims }: DepotRequest, value: object): void => {
    const body = Buffer.from(JSON.stringify(value));
    response.setHeader(HEADERS.signature, proveAnswer(enrolmentSecret, claims.signature ?? '', body));
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };

  /** Signed by the key that the id is registered with, fresh, and here for the first time. */
  const authenticate = (request: ReceivedRequest, id: string): Result<RequestStamp> => {
    const record = registry.record(id);
    if (!record) return refuse('depot-unknown');
    const stamp = checkSignature(request, record.publicKey, now());
    if (!stamp.ok) return stamp;
    const admitted = registry.admit(id, stamp.value, now());
    if (!admitted.ok) return admitted;
    if (registry.isOwned(id)) sources.note(request.from, now());
    return stamp;
  };

  /** A registration by somebody who has the secret and the key; not looked at any further. */
  const readRegistration = async (request: IncomingMessage, path: string) => {
    const sent = await readRequest(request, path);
    unwrap(checkEnrolment(sent, enrolmentSecret, now()));
    const registration = unwrap(parseBody(registerRequestSchema, sent.body));
    const stamp = unwrap(checkSignature(sent, registration.publicKey, now()));
    return { sent, registration, stamp };
  };

  post(REGISTRATION_PATH, async (request, response) => {
    const { sent, registration, stamp } = await readRegistration(request, REGISTRATION_PATH);
    answer(response, sent, unwrap(await service.register(registration, stamp, now())));
  });

  post(TRIAL_PATH, async (request, response) => {
    const { sent, registration } = await readRegistration(request, TRIAL_PATH);
    answer(response, sent, await service.tryRegistration(registration, now()));
  });

  post('/v1/depots/:id/heartbeat', async (request, response) => {
    const id = idOf(request);
    const sent = await readRequest(request, request.originalUrl);
    const stamp = unwrap(authenticate(sent, id));
    const heartbeat = unwrap(parseBody(heartbeatRequestSchema, sent.body));
    const heard = unwrap(service.hear(id, heartbeat, stamp, now()));
    lines.note(id, request);
    clientRtts.noteDepot(id, request.socket);
    answer(response, sent, heard);
  });

  post('/v1/depots/:id/follow-ups', async (request, response) => {
    const id = idOf(request);
    const sent = await readRequest(request, request.originalUrl);
    unwrap(authenticate(sent, id));
    const followUp = unwrap(parseBody(followUpRequestSchema, sent.body));
    answer(response, sent, unwrap(service.followUp(id, followUp, now())));
  });

  return router;
}

/** The id in the path; empty where there is none. */
function idOf({ params }: Request): string {
  return String(params.id ?? '');
}

interface ReceivedRequest extends DepotRequest {
  readonly body: Buffer;
  /** Where its connection comes from. */
  readonly from: string;
}

async function readRequest(request: IncomingMessage, path: string): Promise<ReceivedRequest> {
  const body = unwrap(await readBody(request));
  const from = request.socket.remoteAddress ?? '';
  return { method: 'POST', path, body, claims: readClaims(request), from };
}
