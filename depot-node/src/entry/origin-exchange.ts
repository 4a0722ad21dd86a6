import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { LonghaulError, type OriginUrl, originTarget } from '@longhaul/shared';
import { resetConnection } from '../sockets/reset.ts';
import { secure } from '../sockets/secure.ts';
import type { OpenNextLeg, Route } from '../tunnel/next-leg.ts';

export interface OriginRequest {
  readonly method: 'GET' | 'HEAD';
  readonly url: OriginUrl;
  readonly headers: Readonly<Record<string, string>>;
}

interface OriginExchangeComponents {
  readonly openNextLeg: OpenNextLeg;
  readonly trust: SecureContext;
  readonly answerTimeoutMs: number;
}

/**
 * Asks the origin, over a route that begins at this depot, and gives the answer's head with its body unread. Rejects
 * with a `LonghaulError`: of the chain, or `origin-*`.
 */
export async function askOrigin(
  { openNextLeg, trust, answerTimeoutMs }: OriginExchangeComponents,
  route: Route,
  asked: OriginRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const tunnel = await openNextLeg(route, 0, signal);
  const codes = {
    refused: 'origin-tls-failed',
    broken: 'origin-unreachable',
    timeout: 'origin-timeout',
  } as const;
  const stream =
    asked.url.scheme === 'https' ? await secure(tunnel, asked.url.host, trust, codes, signal) : tunnel;
  return exchange(stream, asked, answerTimeoutMs, signal);
}

function exchange(
  stream: Duplex,
  asked: OriginRequest,
  answerTimeoutMs: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request({
      method: asked.method,
      path: originTarget(asked.url),
      headers: asked.headers,
      createConnection: () => stream,
    });
    let begun: IncomingMessage | undefined;
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (failure: LonghaulError) => {
      settle();
      // Node takes a broken connection for the end of a body without length; it must stay a break.
      begun?.destroy(failure);
      outgoing.destroy();
      resetConnection(stream);
      reject(failure);
    };
    const timer = setTimeout(() => fail(new LonghaulError('origin-timeout')), answerTimeoutMs);
    // Not left to the request itself: that would end the chain where a reset frees it at once.
    const onAbort = () => fail(new LonghaulError('origin-unreachable', { cause: signal.reason }));
    signal.addEventListener('abort', onAbort);
    // An origin has no business to switch protocols on a plain GET.
    outgoing.once('upgrade', () => fail(new LonghaulError('origin-bad-answer')));
    outgoing.on('error', (cause) => {
      const malformed = 'code' in cause && String(cause.code).startsWith('HPE_');
      fail(new LonghaulError(malformed ? 'origin-bad-answer' : 'origin-unreachable', { cause }));
    });
    outgoing.once('response', (answer) => {
      settle();
      if (!isUsable(answer)) {
        fail(new LonghaulError('origin-bad-answer'));
        return;
      }
      begun = answer;
      resolve(answer);
    });
    if (signal.aborted) onAbort();
    else outgoing.end();
  });
}

/** A final status, and no transfer coding that would have to be undone beside chunks. */
function isUsable(answer: IncomingMessage): boolean {
  const status = answer.statusCode ?? 0;
  const coding = answer.headers['transfer-encoding']?.toLowerCase();
  return status >= 200 && status <= 599 && (coding === undefined || coding === 'chunked');
}

/**
 * Whether a body of this answer would end with its connection. Through a tunnel that end proves nothing: the kernel of a
 * depot that was killed ends its connections in the same way.
 */
export function endsWithConnection(answer: IncomingMessage, method: OriginRequest['method']): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = answer.headers;
  const hasBody = method === 'GET' && answer.statusCode !== 204 && answer.statusCode !== 304;
  return hasBody && length === undefined && coding === undefined;
}
