import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalOriginUrl, HEADERS, type LonghaulError } from '@longhaul/shared';
import { ClientBody } from '../entry/client-body.ts';
import { headersToClient, SAFETY_HEADERS } from '../entry/headers.ts';
import { sendRefusal } from '../entry/refusal.ts';
import { type SendOptions, sendPart } from '../entry/send-part.ts';
import type { Held } from './held-answer.ts';

interface HandOverOptions extends SendOptions {
  readonly depotId: string;
  readonly jobId: string;
  readonly onBytes: (bytes: number) => void;
}

/**
 * Gives the successor the answer that was held for it: the origin's status and headers, its URL, then the body. A body
 * that breaks off resets the successor's connection: it never looks complete.
 */
export async function handOver(
  { answered, url }: Held & { readonly ok: true },
  response: ServerResponse,
  options: HandOverOptions,
): Promise<'complete' | 'upstream-broke' | 'successor-left'> {
  const { answer } = answered;
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
  const { stallMs, onBytes, signal } = options;
  const successor = new ClientBody(response, {
    stallMs,
    digest: undefined,
    mustPass: false,
    holdsBack: false,
    onBytes,
  });
  const end = await sendPart(answered, successor, options);
  const isWhole = end === 'complete' && (await successor.finish(signal)).state === 'ready';
  if (isWhole) return 'complete';
  const hasLeft =
    successor.left.aborted || end === 'complete' || end === 'sink-broke' || end === 'sink-stalled';
  successor.reset();
  return hasLeft ? 'successor-left' : 'upstream-broke';
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
