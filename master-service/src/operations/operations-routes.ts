import { isInNetworks, LonghaulError } from '@longhaul/shared';
import { Router } from 'express';
import { JWKS_MAX_AGE_SECONDS, jwksOf } from '../keys/jwks.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { MasterStatus } from './master-status.ts';
import type { MasterMetrics } from './metrics.ts';

/** Who comes through a reverse proxy has the proxy's address, often loopback: these headers tell that there is one. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded'];

interface OperationsRoutesInit {
  readonly signingKeys: readonly SigningKey[];
  readonly metrics: MasterMetrics;
  readonly metricsNetworks: readonly string[];
  readonly status: () => MasterStatus;
}

/** Health, status, metrics and the public keys. */
export function operationsRoutes(init: OperationsRoutesInit): Router {
  const router = Router();
  const jwks = JSON.stringify(jwksOf(init.signingKeys));

  router.get('/healthz', (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.type('text/plain').send('ok\n');
  });

  router.get('/.well-known/jwks.json', (_request, response) => {
    response.setHeader('Cache-Control', `public, max-age=${JWKS_MAX_AGE_SECONDS}`);
    response.type('application/jwk-set+json').send(jwks);
  });

  router.get('/v1/status', (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    response.json(init.status());
  });

  router.get('/metrics', async (request, response) => {
    // Who may not read it is not told that it is there.
    const isReader = isInNetworks(request.socket.remoteAddress ?? '', init.metricsNetworks);
    if (!isReader || PROXY_HEADERS.some((name) => request.headers[name] !== undefined)) {
      throw new LonghaulError('not-found');
    }
    const text = await init.metrics.text();
    response.setHeader('Cache-Control', 'no-store');
    response.type(init.metrics.contentType).send(text);
  });

  return router;
}
