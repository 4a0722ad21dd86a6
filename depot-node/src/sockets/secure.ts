import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { type ErrorCode, LonghaulError } from '@longhaul/shared';
import { LinkedAbort } from '../racing/linked-abort.ts';
import { type Securing, TlsFailure } from '../tls/tls-ending.ts';
import { PendingStream } from './pending-stream.ts';
import { rememberRawSocket } from './reset.ts';
import type { Trust } from './trust.ts';

/** A handshake is a few round trips; a peer that needs longer is not going to answer. */
const HANDSHAKE_TIMEOUT_MS = 15_000;

interface SecureCodes {
  readonly refused: ErrorCode;
  readonly broken: ErrorCode;
  readonly timeout: ErrorCode;
}

/** A TLS handshake that has begun before there is a connection for it. */
export interface BegunHandshake {
  /**
   * What the client says first: whoever makes the connection sends it along. Never settles when it is given
   * up before.
   */
  readonly firstFlight: Promise<Buffer>;
  /** Goes on over a stream that the first flight has been sent over; rejects as {@link secure} does. */
  readonly finish: (stream: Duplex) => Promise<Duplex>;
  /** Gives it up, when there will be no connection. */
  readonly abandon: () => void;
}

/**
 * Speaks TLS over an open stream and checks the certificate for `host`. Rejects with `codes.refused` when TLS
 * itself fails, with `codes.broken` when the stream breaks first and with `codes.timeout` when nothing
 * happens; the stream is then destroyed.
 */
export async function secure(
  stream: Duplex,
  host: string,
  trust: Trust,
  codes: SecureCodes,
  lifetime: AbortSignal,
): Promise<Duplex> {
  if (lifetime.aborted) {
    stream.destroy();
    throw failureOf(lifetime.reason, host, codes);
  }
  try {
    const securing = trust.ending?.connect(stream, host, trust.authorities);
    return await inTime(lifetime, (signal) =>
      securing
        ? awaitHandshake(securing, host, codes, signal)
        : shakeHands(beginTls(stream, host, trust), stream, host, codes, signal),
    );
  } catch (cause) {
    // Also where it could not even begin.
    stream.destroy();
    throw failureOf(cause, host, codes);
  }
}

/** Begins a handshake as {@link secure} does, while the connection that it will go over is still being made. */
export function beginHandshake(
  host: string,
  trust: Trust,
  codes: SecureCodes,
  lifetime: AbortSignal,
): BegunHandshake {
  const begun = trust.ending?.begin(host, trust.authorities);
  if (begun) {
    return {
      firstFlight: begun.firstFlight.catch((cause: unknown) => {
        throw new LonghaulError(codes.broken, { detail: host, cause });
      }),
      finish: (stream) =>
        inTime(lifetime, (signal) => awaitHandshake(begun.finish(stream), host, codes, signal)),
      abandon: begun.abandon,
    };
  }
  const pending = new PendingStream();
  const secured = beginTls(pending, host, trust);
  // Until there is a connection nobody else listens.
  secured.on('error', () => {});
  return {
    firstFlight: pending.firstBytes,
    finish: (stream) => {
      pending.attach(stream);
      return inTime(lifetime, (signal) => shakeHands(secured, stream, host, codes, signal));
    },
    abandon: () => {
      secured.destroy();
      pending.destroy();
    },
  };
}

/** Told to a handshake that takes too long. One for all: a reason of its own would have a stack, which nobody reads. */
const TIME_IS_UP = new DOMException('no handshake in time', 'TimeoutError');

/** Gives a handshake a signal that aborts with this one, and when its time is up. */
async function inTime(
  lifetime: AbortSignal,
  shake: (signal: AbortSignal) => Promise<Duplex>,
): Promise<Duplex> {
  const late = new LinkedAbort(lifetime);
  const timer = setTimeout(() => late.abort(TIME_IS_UP), HANDSHAKE_TIMEOUT_MS);
  try {
    return await shake(late.signal);
  } finally {
    clearTimeout(timer);
    late.leave();
  }
}

/** A handshake by what ends TLS outside of Node. */
async function awaitHandshake(
  { secured, drop }: Securing,
  host: string,
  codes: SecureCodes,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.addEventListener('abort', drop);
  if (signal.aborted) drop();
  try {
    return await secured;
  } catch (cause) {
    if (signal.reason instanceof LonghaulError) throw signal.reason;
    const isBroken = cause instanceof TlsFailure && cause.isBroken;
    const code = signal.aborted ? codes.timeout : isBroken ? codes.broken : codes.refused;
    throw new LonghaulError(code, { detail: host, cause });
  } finally {
    signal.removeEventListener('abort', drop);
  }
}

function beginTls(stream: Duplex, host: string, trust: Trust): TLSSocket {
  return connect({
    socket: stream,
    secureContext: trust.context,
    host,
    ...(isIP(host) ? {} : { servername: host }),
    ALPNProtocols: ['http/1.1'],
  });
}

function shakeHands(
  secured: TLSSocket,
  stream: Duplex,
  host: string,
  codes: SecureCodes,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    rememberRawSocket(secured, stream);
    const fail = (cause: unknown) => {
      signal.removeEventListener('abort', onAbort);
      secured.destroy();
      stream.destroy();
      reject(failureOf(cause, host, codes));
    };
    const onAbort = () => fail(signal.reason);
    const onClose = () => fail(new LonghaulError(codes.broken, { detail: host }));
    signal.addEventListener('abort', onAbort);
    secured.once('error', fail);
    secured.once('close', onClose);
    secured.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      secured.off('error', fail);
      secured.off('close', onClose);
      resolve(secured);
    });
    if (signal.aborted) onAbort();
  });
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED']);

function failureOf(cause: unknown, host: string, codes: SecureCodes): LonghaulError {
  if (cause instanceof LonghaulError) return cause;
  return new LonghaulError(codeOf(cause, codes), { detail: host, cause });
}

function codeOf(cause: unknown, codes: SecureCodes): ErrorCode {
  if (cause instanceof DOMException) return codes.timeout;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return BROKEN.has(code) ? codes.broken : codes.refused;
}
