import { feedbackRequestSchema } from '@longhaul/shared';
import { type OperatorAccess, requireOperator } from '@longhaul/shared/service';
import { Router } from 'express';
import { parseBody, readBody, unwrap } from '../http/read-body.ts';
import type { FeedbackBook } from './feedback-book.ts';
import type { FeedbackService } from './feedback-service.ts';

/** A job's id, a word and two numbers. */
const MOST_BYTES = 4_096;

interface FeedbackRoutesInit {
  readonly service: FeedbackService;
  readonly book: Pick<FeedbackBook, 'counted'>;
  readonly operators: OperatorAccess;
  readonly now: () => number;
}

/**
 * `POST /v1/feedback`: how a download went, for everyone who has its job id. `GET /v1/feedback`: what was
 * said, for operators.
 */
export function feedbackRoutes({ service, book, operators, now }: FeedbackRoutesInit): Router {
  const router = Router();
  router.post('/v1/feedback', async (request, response) => {
    const feedback = unwrap(parseBody(feedbackRequestSchema, unwrap(await readBody(request, MOST_BYTES))));
    const answer = unwrap(service.take(feedback, request.socket.remoteAddress ?? '', now()));
    response.setHeader('Cache-Control', 'no-store');
    response.json(answer);
  });
  router.get('/v1/feedback', (request, response) => {
    requireOperator(request, operators);
    response.setHeader('Cache-Control', 'no-store');
    response.json(book.counted());
  });
  return router;
}
