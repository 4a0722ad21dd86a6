import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { LonghaulError, type OriginUrl, originTarget } from '@longhaul/shared';
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
  const codes = { refused: 'origin-tls-failed', broken: 'origin-unreachable' } as const;
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
      signal,
    });
    const fail = (failure: LonghaulError) => {
      clearTimeout(timer);
      outgoing.destroy();
      stream.destroy();
      reject(failure);
    };
    const timer = setTimeout(() => fail(new LonghaulError('origin-timeout')), answerTimeoutMs);
    // An origin has no business to switch protocols on a plain GET.
    outgoing.once('upgrade', () => fail(new LonghaulError('origin-bad-answer')));
    outgoing.on('error', (cause) => {
      const malformed = 'code' in cause && String(cause.code).startsWith('HPE_');
      fail(new LonghaulError(malformed ? 'origin-bad-answer' : 'origin-unreachable', { cause }));
    });
    outgoing.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    outgoing.end();
  });
}
