import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorAnswer, HEADERS, type LonghaulError } from '@longhaul/shared';
import { setSecurityHeaders } from './security-headers.ts';
import { escapeHtml, STATIC_PAGE_POLICY, staticPage } from './static-page.ts';

/** When a client that was refused for its rate may try again: the caps per minute have refilled by then. */
const RETRY_AFTER_SECONDS = 60;
/** A target in a page is shown this far. */
const MAX_TARGET_CHARS = 500;

/**
 * Answers a refusal: JSON below `/v1/`, a page for browsers, else one line of text; always with the code in the header
 * Longhaul-Error. The page names `target` and leads nowhere, by itself or by a link.
 */
export function answerRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  target?: string,
): void {
  const { type, body } = refusalBody(request, error, target);
  setSecurityHeaders(response);
  response.setHeader('Content-Security-Policy', STATIC_PAGE_POLICY);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader(HEADERS.error, error.code);
  if (error.code === 'rate-limited') response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  // What is left of a body nobody reads must not be taken for the next request.
  if (hasBody(request) && !request.complete) response.setHeader('Connection', 'close');
  response.writeHead(error.status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function refusalBody(
  request: IncomingMessage,
  error: LonghaulError,
  target: string | undefined,
): { type: string; body: string } {
  const { code, message, retry } = error;
  if (request.url?.startsWith('/v1/')) {
    const answer: ErrorAnswer = { error: { code, message, retry } };
    return { type: 'application/json', body: JSON.stringify(answer) };
  }
  if (request.headers.accept?.includes('text/html')) {
    return { type: 'text/html; charset=utf-8', body: refusalPage(error, target) };
  }
  return { type: 'text/plain; charset=utf-8', body: `${code}: ${message}\n` };
}

function refusalPage({ code, message }: LonghaulError, target: string | undefined): string {
  const shown = target && target.length > MAX_TARGET_CHARS ? `${target.slice(0, MAX_TARGET_CHARS)}…` : target;
  return staticPage('This download was not accelerated', [
    `<p>${escapeHtml(message)}</p>`,
    ...(shown ? [`<p class="target"><code>${escapeHtml(shown)}</code></p>`] : []),
    '<p>Longhaul does not forward you by itself. If you trust the address, open it yourself.</p>',
    `<p class="code">Code: <code>${code}</code></p>`,
  ]);
}
