import type { IncomingMessage } from 'node:http';
import { LonghaulError } from '@longhaul/shared';
import { isLaterPart, namesVersion } from '../../door/asked-part.ts';
import type { AnswerHead } from '../../origin/representation.ts';
import type { Fetcher, RequestFor, TimedAnswer } from '../../routes/fetcher.ts';
import type { LastTargets } from '../download/last-targets.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { judgeVersion } from '../download/version-asked.ts';
import { whyUnusable } from './answer-head.ts';

interface FirstAnswerComponents {
  readonly fetcher: Fetcher;
  readonly lastTargets: LastTargets;
}

/** What a client asks for. */
type ClientRequest = Pick<IncomingMessage, 'method' | 'headers'>;

/** How the origin is asked for that, or for its first block. */
interface Asked {
  readonly requestFor: RequestFor;
  readonly isBlock: boolean;
  readonly mayAskItself: boolean;
}

/** A server that is gone must not hold a resume up: who named it may name another one. */
const LAST_TARGET_MS = 10_000;

/**
 * The first answer to a client's request. What a client goes on with is asked for where the job's last body
 * came from, and at the download's own address where that does not give it; all else is asked for at that
 * address, and where that leads no further, because it has led to too many servers, where the last body came
 * from. Rejects with a `LonghaulError`.
 */
export async function firstAnswer(
  { fetcher, lastTargets }: FirstAnswerComponents,
  request: ClientRequest,
  { book, job, target }: RunningDownload,
  { requestFor, isBlock, mayAskItself }: Asked,
  signal: AbortSignal,
): Promise<TimedAnswer> {
  const known = lastTargets.recall(job);
  const last = known && { ...target, ...known };
  if (last && goesOn(request)) {
    const own = AbortSignal.any([signal, AbortSignal.timeout(LAST_TARGET_MS)]);
    // A server that is gone says nothing of the ways to the one that is asked then.
    const answer = await fetcher.firstAnswer(book.anew(), last, requestFor, own).catch(() => undefined);
    const isGiven =
      answer && givesRest(request, answer.head) && !whyUnusable(request, answer.head, isBlock, job);
    if (isGiven) return answer;
    answer?.connection.reset();
    signal.throwIfAborted();
  }
  return fetcher.firstAnswer(book, target, requestFor, signal, mayAskItself).catch((failure: unknown) => {
    const isLedTooFar = failure instanceof LonghaulError && failure.code === 'redirect-limit';
    if (!last || !isLedTooFar) throw failure;
    return fetcher.firstAnswer(book, last, requestFor, signal);
  });
}

/** Whether a client goes on with what it has a part of. */
function goesOn({ headers }: ClientRequest): boolean {
  return isLaterPart(headers) || namesVersion(headers);
}

/**
 * Whether an answer is to who goes on. The whole in place of a part begins again: whoever else is named may
 * have the version that was begun.
 */
function givesRest({ headers }: ClientRequest, head: AnswerHead): boolean {
  const isWhole = head.statusCode === 200 && headers.range !== undefined;
  return !isWhole && judgeVersion(headers, head) === 'asked';
}
