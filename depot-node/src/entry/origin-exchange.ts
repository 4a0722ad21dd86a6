import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SecureContext } from 'node:tls';
import { LonghaulError, type OriginUrl, originTarget } from '@longhaul/shared';
import { resetConnection } from '../sockets/reset.ts';
import { secure } from '../sockets/secure.ts';
import type { OpenNextLeg, Route } from '../tunnel/next-leg.ts';
import { OriginStream } from './origin-stream.ts';

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

/** An origin's answer: its head, and its body unread. */
export interface OriginAnswer {
  readonly answer: IncomingMessage;
  /**
   * Takes a body of known length away from HTTP, when its way and its length are wanted. `undefined` when it is to be
   * read from `answer`, which then goes on. Afterwards the way is the caller's, and `answer` over.
   */
  readonly takeBody: (
    isWanted: (way: Duplex, sizeBytes: number) => boolean,
  ) => Promise<TakenBody | undefined>;
}

const NOTHING = Buffer.alloc(0);

const TLS_CODES = {
  refused: 'origin-tls-failed',
  broken: 'origin-unreachable',
  timeout: 'origin-timeout',
} as const;

export interface TakenBody {
  /** What had been read already. */
  readonly prefix: Buffer;
  /** Where the rest comes from, paused. */
  readonly source: Duplex;
  readonly restBytes: number;
}

/**
 * Asks the origin, over a route that begins at this depot, and gives the answer's head with its body unread. Over http
 * the request goes along while the chain is built; `onStands` is called when it is. Rejects with a `LonghaulError`: of
 * the chain, or `origin-*`.
 */
export function askOrigin(
  { openNextLeg, trust, answerTimeoutMs }: OriginExchangeComponents,
  route: Route,
  asked: OriginRequest,
  signal: AbortSignal,
  onStands: () => void,
): Promise<OriginAnswer> {
  const open = (firstBytes: Buffer) => openWay({ openNextLeg, trust }, route, asked.url, firstBytes, signal);
  return askOver(open, asked, answerTimeoutMs, signal, onStands);
}

/** What an exchange has to know of its request. */
type AskedOver = Pick<OriginRequest, 'method' | 'headers'> & {
  readonly url: Pick<OriginUrl, 'path' | 'query'>;
};

/**
 * One HTTP exchange over a way that `open` makes for it, which sends the first bytes along. Rejects with what `open`
 * rejects with, or with `origin-*`.
 */
export async function askOver(
  open: (firstBytes: Buffer) => Promise<Duplex>,
  asked: AskedOver,
  answerTimeoutMs: number,
  signal: AbortSignal,
  onStands: () => void = () => undefined,
): Promise<OriginAnswer> {
  const stream = new OriginStream();
  stream.once('attached', onStands);
  const answered = exchange(stream, asked, answerTimeoutMs, signal);
  // When the way fails first, that is what is told.
  answered.catch(() => {});
  try {
    // Given up before it could be written, the request has no first bytes.
    const way = await open(await Promise.race([stream.firstBytes, answered.then(() => NOTHING)]));
    if (stream.destroyed) resetConnection(way);
    else stream.attach(way);
  } catch (failure) {
    stream.destroy();
    throw failure;
  }
  return answered;
}

/**
 * Opens the way to a URL's origin over a route that begins at this depot, and sends these bytes: over http along with the
 * chain's making, over https behind the handshake. Rejects with a `LonghaulError`.
 */
export async function openWay(
  { openNextLeg, trust }: Pick<OriginExchangeComponents, 'openNextLeg' | 'trust'>,
  route: Route,
  url: OriginUrl,
  firstBytes: Buffer,
  signal: AbortSignal,
): Promise<Duplex> {
  if (url.scheme === 'http') return openNextLeg(route, 0, signal, firstBytes);
  const tunnel = await openNextLeg(route, 0, signal);
  const way = await secure(tunnel, url.host, trust, TLS_CODES, signal);
  way.write(firstBytes);
  return way;
}

function exchange(
  stream: OriginStream,
  asked: AskedOver,
  answerTimeoutMs: number,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request({
      method: asked.method,
      path: originTarget(asked.url),
      headers: asked.headers,
      createConnection: () => stream,
    });
    let begun: IncomingMessage | undefined;
    let isTaken = false;
    let timer: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (failure: LonghaulError) => {
      if (isTaken) return;
      settle();
      // Node takes a broken connection for the end of a body without length; it must stay a break.
      begun?.destroy(failure);
      outgoing.destroy();
      resetConnection(stream);
      reject(failure);
    };
    // Until the way is there the chain has its own deadlines.
    stream.once('attached', () => {
      if (!begun) timer = setTimeout(() => fail(new LonghaulError('origin-timeout')), answerTimeoutMs);
    });
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
      const sizeBytes = takableBytes(answer, asked.method);
      // At once: HTTP must not read further into a body that the relay is going to take.
      if (sizeBytes !== undefined) stream.hold();
      answer.once('end', () => stream.complete());
      resolve({
        answer,
        takeBody: async (isWanted) => {
          if (sizeBytes === undefined) return undefined;
          if (!stream.way || !isWanted(stream.way, sizeBytes)) {
            stream.release();
            return undefined;
          }
          const prefix = await readHeld(stream, answer);
          isTaken = true;
          const source = stream.detach();
          return source && { prefix, source, restBytes: sizeBytes - prefix.length };
        },
      });
    });
    if (signal.aborted) onAbort();
    else outgoing.end();
  });
}

/** Everything of a held answer that has passed HTTP already. */
async function readHeld(stream: OriginStream, answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  do {
    for (let chunk: Buffer | null = answer.read(); chunk !== null; chunk = answer.read()) chunks.push(chunk);
    // What HTTP left in the stream because its own buffer was full comes with the next turn.
    await nextTurn();
  } while (!stream.destroyed && (stream.readableLength > 0 || answer.readableLength > 0));
  // Whatever becomes of the answer now is nobody's concern: its body goes another way.
  answer.on('error', () => {});
  return Buffer.concat(chunks);
}

/** Length of a body that can be taken from HTTP: known, and not coded. */
function takableBytes(answer: IncomingMessage, method: OriginRequest['method']): number | undefined {
  const { 'content-length': length = '', 'transfer-encoding': coding } = answer.headers;
  const hasBody = method === 'GET' && (answer.statusCode === 200 || answer.statusCode === 206);
  if (!hasBody || coding !== undefined || !/^[0-9]{1,15}$/.test(length)) return undefined;
  return Number(length) > 0 ? Number(length) : undefined;
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
