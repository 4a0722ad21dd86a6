import type { ServerResponse } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { dispositionFor } from './download-name.ts';
import { headersToClient, SAFETY_HEADERS } from './headers.ts';
import type { FetchedAnswer } from './origin-fetch.ts';
import { type SendBodyOptions, type SendOutcome, sendBody } from './send-body.ts';

export interface SendOptions extends SendBodyOptions {
  readonly depotId: string;
  readonly jobId: string;
}

/**
 * Sends the origin's answer on: long bodies by the relay, all others through HTTP. A body that breaks off resets the
 * client's connection: it never looks complete.
 */
export async function sendAnswer(
  fetched: FetchedAnswer,
  response: ServerResponse,
  options: SendOptions,
): Promise<SendOutcome> {
  const body = await fetched.takeBody();
  response.writeHead(fetched.answer.statusCode ?? 502, answerHeaders(fetched, options).flat());
  return sendBody(fetched.answer, body, response, options);
}

function answerHeaders({ answer, url }: FetchedAnswer, options: SendOptions): [string, string][] {
  const status = answer.statusCode ?? 502;
  const isError = status >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text.
  const passed = headersToClient(answer.rawHeaders).filter(
    ([name]) => !isError || !/^content-type$/i.test(name),
  );
  const own: [string, string][] = [
    ...Object.entries(SAFETY_HEADERS),
    [HEADERS.depot, options.depotId],
    [HEADERS.job, options.jobId],
  ];
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(answer.headers['content-disposition'], url)]);
  return [...passed, ...own];
}
