import { LonghaulError } from '@longhaul/shared';
import { type OperatorAccess, requireOperator } from '@longhaul/shared/service';
import { Router } from 'express';
import type { OutcomeBook } from './outcome-book.ts';

/** Jobs in one answer, about a kilobyte each. */
const MOST_LISTED = 100;

interface OutcomeRoutesInit {
  readonly outcomes: Pick<OutcomeBook, 'of' | 'recent'>;
  readonly operators: OperatorAccess;
}

/** `GET /v1/outcomes[?job=<id>]`: what came of the newest jobs, or of one, beside what was predicted. For operators. */
export function outcomeRoutes({ outcomes, operators }: OutcomeRoutesInit): Router {
  const router = Router();
  router.get('/v1/outcomes', (request, response) => {
    requireOperator(request, operators);
    const { job } = request.query;
    response.setHeader('Cache-Control', 'no-store');
    if (typeof job !== 'string') {
      response.json({ jobs: outcomes.recent(MOST_LISTED) });
      return;
    }
    const outcome = outcomes.of(job);
    if (!outcome) throw new LonghaulError('job-unknown');
    response.json({ jobs: [{ jobId: job, ...outcome }] });
  });
  return router;
}
