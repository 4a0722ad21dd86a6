import type { ErrorCode, MasterKey } from '@longhaul/shared';
import { type OperatorAccess, requireOperator } from '@longhaul/shared/service';
import { type Response, Router } from 'express';
import type { DepotState } from '../depots/registered-depot.ts';
import { jwksOf } from '../keys/signing-key.ts';
import type { Health } from './health.ts';
import type { MasterMetrics } from './metrics.ts';

/** Depots that see an unknown key ask again at most every 30 s, so a short cache is enough. */
const JWKS_MAX_AGE_SECONDS = 300;

/** `GET /v1/status`: what the page shows of this master. */
interface MasterStatus {
  /** The operator's sentence; `null` when there is none. */
  readonly note: string | null;
  readonly depots: readonly {
    readonly id: string;
    readonly state: DepotState;
    /** How long ago any master has heard it, as far as this one knows; left out where it does not. */
    readonly heardAgoMs?: number;
    /** What the depot's operator should look at; left out when there is nothing. */
    readonly problem?: ErrorCode;
  }[];
  readonly version: string;
}

interface OperationsRoutesInit {
  readonly health: Health;
  readonly masterKeys: () => readonly MasterKey[];
  readonly metrics: MasterMetrics;
  readonly operators: OperatorAccess;
  readonly status: () => MasterStatus;
}

/** Health, status, metrics and the public keys. */
export function operationsRoutes(init: OperationsRoutesInit): Router {
  const router = Router();

  router.get(['/healthz', '/healthz/live'], (_request, response) => sendHealth(response, 'ok'));
  router.get('/healthz/ready', (_request, response) => sendHealth(response, init.health.readiness()));
  router.get('/healthz/anycast', (_request, response) => sendHealth(response, init.health.anycast()));

  router.get('/.well-known/jwks.json', (_request, response) => {
    response.setHeader('Cache-Control', `public, max-age=${JWKS_MAX_AGE_SECONDS}`);
    response.type('application/jwk-set+json').send(JSON.stringify(jwksOf(init.masterKeys())));
  });

  router.get('/v1/status', (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.json(init.status());
  });

  router.get('/metrics', async (request, response) => {
    requireOperator(request, init.operators);
    const text = await init.metrics.text();
    response.setHeader('Cache-Control', 'no-store');
    response.type(init.metrics.contentType).send(text);
  });

  return router;
}

function sendHealth(response: Response, state: string): void {
  response.setHeader('Cache-Control', 'no-store');
  response
    .status(state === 'ok' || state === 'ready' ? 200 : 503)
    .type('text/plain')
    .send(`${state}\n`);
}
