import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalOriginUrl, HEADERS, type LonghaulError } from '@longhaul/shared';
import { headersToClient, SAFETY_HEADERS } from '../entry/headers.ts';
import { sendRefusal } from '../entry/refusal.ts';
import { type SendBodyOptions, type SendOutcome, sendBody } from '../entry/send-body.ts';
import type { Held } from './held-answer.ts';

interface HandOverOptions extends SendBodyOptions {
  readonly depotId: string;
  readonly jobId: string;
}

/** Gives the successor the answer that was held for it: the origin's status and headers, its URL, then the body. */
export async function handOver(
  { answered, url }: Held & { readonly ok: true },
  response: ServerResponse,
  options: HandOverOptions,
): Promise<SendOutcome> {
  const { answer } = answered;
  const sink = response.socket;
  const taken = await answered.takeBody(
    (way, sizeBytes) => sink !== null && options.relay.splices(way, sink, sizeBytes),
  );
  const { 'content-disposition': disposition } = answer.headers;
  const headers: [string, string][] = [
    ...headersToClient(answer.rawHeaders),
    ...Object.entries(SAFETY_HEADERS),
    // The entry depot names the file by it.
    ...(disposition === undefined ? [] : [['Content-Disposition', disposition] as [string, string]]),
    [HEADERS.origin, canonicalOriginUrl(url)],
    [HEADERS.depot, options.depotId],
    [HEADERS.job, options.jobId],
  ];
  response.writeHead(answer.statusCode ?? 502, headers.flat());
  return sendBody(answer, taken, response, options);
}

/** Refuses a handover; tells the URL where it is known, by which the entry depot can fetch on its own. */
export function refuseHandover(
  request: IncomingMessage,
  response: ServerResponse,
  refused: { readonly error: LonghaulError; readonly url: Held['url'] },
  ownId: string,
): void {
  if (refused.url) response.setHeader(HEADERS.origin, canonicalOriginUrl(refused.url));
  sendRefusal(request, response, refused.error, ownId);
}
