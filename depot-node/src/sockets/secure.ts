import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { type ErrorCode, LonghaulError } from '@longhaul/shared';
import { type Securing, TlsFailure } from '../tls/tls-ending.ts';
import { rememberRawSocket } from './reset.ts';
import type { Trust } from './trust.ts';

/** A handshake is a few round trips; a peer that needs longer is not going to answer. */
const HANDSHAKE_TIMEOUT_MS = 15_000;

interface SecureCodes {
  readonly refused: ErrorCode;
  readonly broken: ErrorCode;
  readonly timeout: ErrorCode;
}

/**
 * Speaks TLS over an open stream and checks the certificate for `host`. Rejects with `codes.refused` when TLS itself
 * fails, with `codes.broken` when the stream breaks first and with `codes.timeout` when nothing happens; the stream is then destroyed.
 */
export function secure(
  stream: Duplex,
  host: string,
  trust: Trust,
  codes: SecureCodes,
  lifetime: AbortSignal,
): Promise<Duplex> {
  const signal = AbortSignal.any([lifetime, AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS)]);
  const securing = signal.aborted ? undefined : trust.ending?.connect(stream, host, trust.authorities);
  return securing
    ? awaitHandshake(securing, host, codes, signal)
    : secureByNode(stream, host, trust, codes, signal);
}

/** The same by what ends TLS outside of Node. */
async function awaitHandshake(
  { secured, drop }: Securing,
  host: string,
  codes: SecureCodes,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.addEventListener('abort', drop);
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

function secureByNode(
  stream: Duplex,
  host: string,
  trust: Trust,
  codes: SecureCodes,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket: stream,
      secureContext: trust.context,
      host,
      ...(isIP(host) ? {} : { servername: host }),
      ALPNProtocols: ['http/1.1'],
    });
    rememberRawSocket(secured, stream);
    const fail = (cause: unknown) => {
      signal.removeEventListener('abort', onAbort);
      secured.destroy();
      stream.destroy();
      reject(
        cause instanceof LonghaulError
          ? cause
          : new LonghaulError(codeOf(cause, codes), { detail: host, cause }),
      );
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

function codeOf(cause: unknown, codes: SecureCodes): ErrorCode {
  if (cause instanceof DOMException) return codes.timeout;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return BROKEN.has(code) ? codes.broken : codes.refused;
}
