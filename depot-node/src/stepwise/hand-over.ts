import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalOriginUrl, HEADERS, type LonghaulError } from '@longhaul/shared';
import { ClientBody } from '../delivery/download/client-body.ts';
import { sendPart } from '../delivery/one-way/send-part.ts';
import { headersToClient, SAFETY_HEADERS } from '../door/client-headers.ts';
import { sendRefusal } from '../door/refusal.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { Held } from './waiting-transfers.ts';

interface HandOverOptions {
  readonly jobId: string;
  readonly onBytes: (bytes: number) => void;
  /** Aborts when this depot serves it no further. */
  readonly stop: AbortSignal;
}

/**
 * Gives the successor the answer that was held for it: the origin's status and headers, its URL, then the body. A body
 * that breaks off resets the successor's connection: it never looks complete.
 */
export async function handOver(
  { answer, url }: Held & { readonly ok: true },
  response: ServerResponse,
  { ownId, relay, resetOnClose, timeouts }: DataPlane,
  { jobId, onBytes, stop }: HandOverOptions,
): Promise<'complete' | 'upstream-broke' | 'successor-left'> {
  const { statusCode, headers: origin, rawHeaders } = answer.head;
  const { 'content-disposition': disposition } = origin;
  const headers: [string, string][] = [
    ...headersToClient(rawHeaders),
    ...Object.entries(SAFETY_HEADERS),
    // The entry depot names the file by it.
    ...(disposition === undefined ? [] : [['Content-Disposition', disposition] as [string, string]]),
    [HEADERS.origin, canonicalOriginUrl(url)],
    [HEADERS.depot, ownId],
    [HEADERS.job, jobId],
  ];
  const { silenceMs, stallMs } = timeouts;
  const successor = new ClientBody(response, { stallMs, onBytes });
  successor.begin(statusCode, headers);
  successor.guard(resetOnClose);
  const end = await sendPart(answer, successor, { relay, signal: stop, silenceMs, stallMs });
  const isWhole = end === 'complete' && (await successor.finish(stop)).state === 'ready';
  if (isWhole) return 'complete';
  // A depot that gives up resets the successor by itself.
  const hasLeft =
    !stop.aborted &&
    (successor.left.aborted || end === 'complete' || end === 'sink-broke' || end === 'sink-stalled');
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
  sendRefusal(request, response, refused.error, { ownId });
}
