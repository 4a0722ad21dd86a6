import { HEADERS } from '@longhaul/shared';
import { dispositionFor } from './download-name.ts';
import { headersToClient, SAFETY_HEADERS } from './headers.ts';
import type { FetchedAnswer } from './origin-fetch.ts';

/** The head of what the client gets, as far as it is the origin's. */
export interface OriginHead {
  readonly statusCode: number;
  readonly rawHeaders: readonly string[];
}

/** The headers of an answer as the client gets them. */
export function answerHeaders(
  { statusCode, rawHeaders }: OriginHead,
  { answer, target }: FetchedAnswer,
  depotId: string,
  jobId: string,
): readonly (readonly [string, string])[] {
  const isError = statusCode >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text.
  const passed = headersToClient(rawHeaders).filter(([name]) => !isError || !/^content-type$/i.test(name));
  const own: [string, string][] = [
    ...Object.entries(SAFETY_HEADERS),
    [HEADERS.depot, depotId],
    [HEADERS.job, jobId],
  ];
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(answer.headers['content-disposition'], target.url)]);
  return [...passed, ...own];
}
