import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type ErrorAnswer, HEADERS, type LonghaulError } from '@longhaul/shared';
import { hasUnreadBody } from '@longhaul/shared/service';
import { type Refused, refusalPage } from './refusal-page.ts';
import { FORM_PAGE_POLICY, setSecurityHeaders } from './security-headers.ts';

export type { Refused } from './refusal-page.ts';

/** When a client that was refused for its rate may try again: the caps per minute have refilled by then. */
const RATE_RETRY_SECONDS = 60;
/** When to try again what may pass by itself, for example when a depot has come back: a heartbeat later. */
const PASSING_RETRY_SECONDS = 5;

/**
 * Answers a refusal: JSON below `/v1/`, a page for browsers, else text, which names the help at `masterUrl`
 * where that is given; always with the code in the header Longhaul-Error, and with Retry-After where waiting
 * helps.
 */
export function answerRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  refused: Refused = {},
  masterUrl = '',
): void {
  const { code, status, retry } = error;
  const { type, body } = refusalBody(request, error, refused, masterUrl);
  setSecurityHeaders(response);
  response.setHeader('Content-Security-Policy', FORM_PAGE_POLICY);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader(HEADERS.error, code);
  if (retry && (status === 429 || status === 503)) {
    response.setHeader('Retry-After', status === 429 ? RATE_RETRY_SECONDS : PASSING_RETRY_SECONDS);
  }
  if (hasUnreadBody(request)) response.setHeader('Connection', 'close');
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function refusalBody(
  { url = '', headers }: IncomingMessage,
  error: LonghaulError,
  refused: Refused,
  masterUrl: string,
): { type: string; body: string } {
  const { code, message, retry } = error;
  const help = `help#${code}`;
  if (url.startsWith('/v1/')) {
    const answer: ErrorAnswer = { error: { code, message, retry, direct: ERRORS[code].direct, help } };
    return { type: 'application/json', body: JSON.stringify(answer) };
  }
  if (headers.accept?.includes('text/html')) {
    return { type: 'text/html; charset=utf-8', body: refusalPage(url, error, refused) };
  }
  // No tool goes to an address without a host, and the host of a request is whatever its sender says.
  const helpLine = masterUrl === '' ? '' : `Help: ${masterUrl}/${help}\n`;
  return { type: 'text/plain; charset=utf-8', body: `${code}: ${message}\n${helpLine}` };
}
