import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  followUpRequestSchema,
  HEADERS,
  heartbeatRequestSchema,
  type Result,
  refuse,
  registerRequestSchema,
} from '@longhaul/shared';
import { headerOf } from '@longhaul/shared/service';
import { Router } from 'express';
import { parseBody, readBody, unwrap } from '../http/read-body.ts';
import { checkEnrolment, checkSignedRequest, REGISTRATION_PATH, signAnswer } from './depot-authentication.ts';
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

  const answer = (response: ServerResponse, requestSignature: string, value: object): void => {
    const body = Buffer.from(JSON.stringify(value));
    response.setHeader(HEADERS.signature, signAnswer(enrolmentSecret, requestSignature, body));
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };

  const authenticate = (request: IncomingMessage, path: string, id: string, body: Buffer): Result<number> => {
    const record = registry.record(id);
    if (!record) return refuse('depot-unknown');
    const [time, signature] = [headerOf(request, HEADERS.time), headerOf(request, HEADERS.signature)];
    return checkSignedRequest({ method: 'POST', path, time, signature, body }, record.publicKey, now());
  };

  router.post(REGISTRATION_PATH, async (request, response) => {
    const body = unwrap(await readBody(request));
    const [time, mac] = [headerOf(request, HEADERS.time), headerOf(request, HEADERS.enrolment)];
    const depotTimeMs = unwrap(checkEnrolment(enrolmentSecret, { time, mac, body }, now()));
    const registration = unwrap(parseBody(registerRequestSchema, body));
    answer(response, mac ?? '', unwrap(await service.register(registration, depotTimeMs, now())));
  });

  router.post('/v1/depots/:id/heartbeat', async (request, response) => {
    const { id } = request.params;
    const body = unwrap(await readBody(request));
    const depotTimeMs = unwrap(authenticate(request, request.originalUrl, id, body));
    const heartbeat = unwrap(parseBody(heartbeatRequestSchema, body));
    const directory = service.hear(id, heartbeat, depotTimeMs, now());
    answer(response, headerOf(request, HEADERS.signature) ?? '', directory);
  });

  router.post('/v1/depots/:id/follow-ups', async (request, response) => {
    const { id } = request.params;
    const body = unwrap(await readBody(request));
    unwrap(authenticate(request, request.originalUrl, id, body));
    const followUp = unwrap(parseBody(followUpRequestSchema, body));
    const value = unwrap(service.followUp(id, followUp, now()));
    answer(response, headerOf(request, HEADERS.signature) ?? '', value);
  });

  return router;
}
