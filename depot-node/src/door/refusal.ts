import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, HEADERS, type LonghaulError } from '@longhaul/shared';
import { isRedirectedAsOfOld } from '@longhaul/shared/service';
import type { DepotEvent } from '../plane/events.ts';
import { LEADING_HEADERS, SAFETY_HEADERS } from './client-headers.ts';
import { type LeadingOn, REFUSAL_PAGE_POLICY, refusalPage } from './refusal-page.ts';

/** Refusals of the request itself: no waiting makes it better. */
const REQUEST_FAULTS = new Set([400, 405, 431]);

/** Refusals of tickets that say nothing of the address: what was resumed may go on later, or by another ticket. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ticket-expired', 'ticket-checks-spent']);

/** Refusals that waiting does not help, whatever the address has given: who came back would be refused again. */
const LASTING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['origin-digest-wrong']);

/** Clients that may come back wait at least this long ... */
const RETRY_AFTER_SECONDS = 5;
/** ... who has asked for too much this long, until what is counted by the minute has refilled ... */
const RATE_RETRY_AFTER_SECONDS = 60;
/** ... and at most this long, whatever an origin asks for: some programs wait as they are told. */
const LONGEST_RETRY_AFTER_SECONDS = 3600;

/**
 * The header that says when to come back, for a refusal that waiting may help; not before the time that an
 * origin asks for.
 */
export function retryAfter(status: number, mayPass: boolean, askedSeconds = 0): Record<string, string> {
  if ((status !== 503 && status !== 429) || !mayPass) return {};
  const least = status === 429 ? RATE_RETRY_AFTER_SECONDS : RETRY_AFTER_SECONDS;
  const seconds = Math.max(least, Math.ceil(askedSeconds));
  return { 'Retry-After': String(Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS)) };
}

/**
 * The status of a refusal. A resume is never answered with a redirect or a 404, because browsers then drop the bytes
 * they have: tickets that are over answer it with 503, and so does everything that fails at an address that has worked.
 */
function refusalStatus(error: LonghaulError, isResume: boolean, hasWorked: boolean): number {
  if (hasWorked && !REQUEST_FAULTS.has(error.status)) return 503;
  return isResume && PASSING.has(error.code) ? 503 : error.status;
}

interface RefusalContext {
  readonly ownId: string;
  /** Whether this address has given a body before. */
  readonly hasWorked?: boolean;
  /** For people who open the address in a browser. */
  readonly leadingOn?: LeadingOn;
}

/** Answers a request with a registered failure, its code in a header: a page for browsers that show it, else text. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  { ownId, hasWorked = false, leadingOn }: RefusalContext,
): void {
  const status = refusalStatus(error, request.headers.range !== undefined, hasWorked);
  const mayPass = error.retry || (hasWorked && !LASTING.has(error.code));
  const page =
    leadingOn && request.headers.accept?.includes('text/html') ? refusalPage(error, leadingOn) : undefined;
  const text = page ?? `${error.code}: ${error.message}\n`;
  response.writeHead(status, {
    ...SAFETY_HEADERS,
    ...(page === undefined ? {} : { 'Content-Security-Policy': REFUSAL_PAGE_POLICY }),
    'Content-Type': page === undefined ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    [HEADERS.error]: error.code,
    [HEADERS.depot]: error.depot ?? ownId,
    ...retryAfter(status, mayPass, error.retryAfterSeconds),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Sends the client back to the master, which plans anew; its link never expires. */
export function sendBackToMaster(
  { headers }: IncomingMessage,
  response: ServerResponse,
  location: string,
  ownId: string,
): void {
  response.writeHead(isRedirectedAsOfOld(headers['user-agent']) ? 302 : 307, {
    ...LEADING_HEADERS,
    'Cache-Control': 'no-store',
    Location: location,
    'Content-Length': 0,
    [HEADERS.error]: 'ticket-start-over',
    [HEADERS.depot]: ownId,
  });
  response.end();
}

/** A failure for log and metrics, with what lies behind it. */
export function refusalEvent(failure: LonghaulError, jobId: string | undefined, ownId: string): DepotEvent {
  const { code, depot = ownId, cause } = failure;
  const detail = failure.detail ?? (cause instanceof Error ? cause.message : undefined);
  return { type: 'refusal', code, jobId, depot, detail };
}
