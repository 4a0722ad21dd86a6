import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  followUpRequestSchema,
  HEADERS,
  heartbeatRequestSchema,
  type RequestStamp,
  type Result,
  refuse,
  registerRequestSchema,
} from '@longhaul/shared';
import { proveAnswer, readClaims } from '@longhaul/shared/service';
import { Router } from 'express';
import { parseBody, readBody, unwrap } from '../http/read-body.ts';
import {
  checkEnrolment,
  checkSignature,
  type DepotRequest,
  REGISTRATION_PATH,
} from './depot-authentication.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DepotService } from './depot-service.ts';

interface DepotRoutesInit {
  readonly service: DepotService;
  readonly registry: DepotRegistry;
  readonly enrolmentSecret: string;
  readonly now: () => number;
}

/**
 * `POST /v1/depots`, `/v1/depots/<id>/heartbeat`, `/v1/depots/<id>/follow-ups`. Bodies are read raw, because MACs and
 * signatures are over their bytes. Every 2xx answer proves itself with the secret's MAC.
 */
export function depotRoutes({ service, registry, enrolmentSecret, now }: DepotRoutesInit): Router {
  const router = Router();

  const answer = (response: ServerResponse, { claims }: DepotRequest, value: object): void => {
    const body = Buffer.from(JSON.stringify(value));
    response.setHeader(HEADERS.signature, proveAnswer(enrolmentSecret, claims.signature ?? '', body));
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };

  /** Signed by the key that the id is registered with, fresh, and here for the first time. */
  const authenticate = (request: DepotRequest, id: string): Result<RequestStamp> => {
    const record = registry.record(id);
    if (!record) return refuse('depot-unknown');
    const stamp = checkSignature(request, record.publicKey, now());
    if (!stamp.ok) return stamp;
    const admitted = registry.admit(id, stamp.value, now());
    return admitted.ok ? stamp : admitted;
  };

  router.post(REGISTRATION_PATH, async (request, response) => {
    const sent = await readRequest(request, REGISTRATION_PATH);
    unwrap(checkEnrolment(sent, enrolmentSecret, now()));
    const registration = unwrap(parseBody(registerRequestSchema, sent.body));
    const stamp = unwrap(checkSignature(sent, registration.publicKey, now()));
    answer(response, sent, unwrap(await service.register(registration, stamp, now())));
  });

  router.post('/v1/depots/:id/heartbeat', async (request, response) => {
    const { id } = request.params;
    const sent = await readRequest(request, request.originalUrl);
    const stamp = unwrap(authenticate(sent, id));
    const heartbeat = unwrap(parseBody(heartbeatRequestSchema, sent.body));
    answer(response, sent, unwrap(service.hear(id, heartbeat, stamp, now())));
  });

  router.post('/v1/depots/:id/follow-ups', async (request, response) => {
    const { id } = request.params;
    const sent = await readRequest(request, request.originalUrl);
    unwrap(authenticate(sent, id));
    const followUp = unwrap(parseBody(followUpRequestSchema, sent.body));
    answer(response, sent, unwrap(service.followUp(id, followUp, now())));
  });

  return router;
}

async function readRequest(
  request: IncomingMessage,
  path: string,
): Promise<DepotRequest & { readonly body: Buffer }> {
  const body = unwrap(await readBody(request));
  return { method: 'POST', path, body, claims: readClaims(request) };
}
