import { LonghaulError } from '@longhaul/shared';
import { type OperatorAccess, requireOperator } from '@longhaul/shared/service';
import { Router } from 'express';
import { readAddress, readPrefix } from './address.ts';
import type { PrefixFiles } from './prefix-files.ts';
import type { WhereaboutsLookUp } from './whereabouts.ts';

interface PrefixRoutesInit {
  readonly whereabouts: WhereaboutsLookUp;
  readonly files: PrefixFiles;
  readonly operators: OperatorAccess;
  readonly now: () => number;
}

/** `GET /v1/prefixes?of=<address>`: where the master takes a client for, and what says so. For operators. */
export function prefixRoutes({ whereabouts, files, operators, now }: PrefixRoutesInit): Router {
  const router = Router();
  router.get('/v1/prefixes', (request, response) => {
    requireOperator(request, operators);
    const { of } = request.query;
    const address = typeof of === 'string' ? addressOf(of) : undefined;
    if (!address)
      throw new LonghaulError('bad-request', {
        detail: 'of takes an IP address, or a prefix for its first one',
      });
    response.setHeader('Cache-Control', 'no-store');
    response.json({ of, ...whereabouts.explain(address, now()), tables: files.views });
  });
  return router;
}

function addressOf(text: string) {
  const prefix = text.includes('/') ? readPrefix(text) : readAddress(text);
  return typeof prefix === 'string' ? undefined : prefix;
}
