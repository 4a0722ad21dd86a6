import { HEADERS } from '@longhaul/shared';
import { dispositionFor } from './download-name.ts';
import { headersToClient, SAFETY_HEADERS } from './headers.ts';
import type { FetchedAnswer } from './origin-fetch.ts';

/** The headers of an origin's answer as the client gets them. */
export function answerHead(
  { answer, target }: FetchedAnswer,
  depotId: string,
  jobId: string,
): readonly (readonly [string, string])[] {
  const isError = (answer.statusCode ?? 502) >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text.
  const passed = headersToClient(answer.rawHeaders).filter(
    ([name]) => !isError || !/^content-type$/i.test(name),
  );
  const own: [string, string][] = [
    ...Object.entries(SAFETY_HEADERS),
    [HEADERS.depot, depotId],
    [HEADERS.job, jobId],
  ];
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(answer.headers['content-disposition'], target.url)]);
  return [...passed, ...own];
}
