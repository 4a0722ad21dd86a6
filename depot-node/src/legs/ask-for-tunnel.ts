import type { Duplex } from 'node:stream';
import {
  type Authority,
  type Chain,
  type ErrorCode,
  formatConnect,
  HEADERS,
  isMac,
  isWireErrorCode,
  LonghaulError,
  TAKES_MACS,
} from '@longhaul/shared';
import { parseAnswerHead } from '../origin/parse-answer-head.ts';
import type { AnswerHead } from '../origin/representation.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { ProofMaker } from './caller-proof.ts';
import type { EarlyBytes } from './early-bytes.ts';

interface AskComponents {
  readonly proofs: ProofMaker;
  readonly connectTimeoutMs: number;
}

/** Which tunnel is wanted: along which chain of which ticket, and to which origin. */
export interface TunnelTarget {
  readonly ticket: string;
  readonly chainIndex: number;
  readonly chain: Chain;
  readonly authority: Authority;
}

/** What is asked of the next depot. */
export interface TunnelRequest {
  readonly target: TunnelTarget;
  readonly place: number;
  readonly next: string;
  readonly early: EarlyBytes;
  /** Whether its last proof was a MAC. */
  hasMac: boolean;
}

/**
 * Asks the next depot for a tunnel over a connection to it, the first bytes right behind the request, and
 * gives the connection once the tunnel stands. Rejects with a `LonghaulError` that names a depot; the
 * connection is reset then. By hand, because one request and one answer are all that this connection ever has
 * of HTTP: Node's client makes a dozen objects for them.
 */
export function askForTunnel(
  stream: Duplex,
  { proofs, connectTimeoutMs }: AskComponents,
  asked: TunnelRequest,
  signal: AbortSignal,
): Promise<Duplex> {
  const { target, place, next, early } = asked;
  const proof = proofs.make(target.ticket, target.chainIndex, place, next);
  asked.hasMac = isMac(proof);
  return new Promise((resolve, reject) => {
    const failWith = (code: ErrorCode, depot = next, cause?: unknown) => {
      settle();
      // An error that comes after this is nobody's.
      stream.on('error', () => {});
      resetConnection(stream);
      reject(new LonghaulError(code, { depot, cause }));
    };
    // Every depot further on may need its own time to connect, and shall be the one that names the failure.
    const patienceMs = connectTimeoutMs * (target.chain.length - place);
    const timer = setTimeout(() => failWith('next-depot-timeout'), patienceMs);
    const onAbort = () => failWith('next-depot-unreachable', next, signal.reason);
    const onError = (cause: Error) => failWith('next-depot-unreachable', next, cause);
    const onEnd = () => failWith('next-depot-unreachable');
    let come: Buffer | undefined;
    const onReadable = () => {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      come = come ? Buffer.concat([come, chunk]) : chunk;
      const answer = parseAnswerHead(come);
      if (answer === 'incomplete') return;
      if (answer === 'malformed') onEnd();
      else if (answer.head.statusCode === 200) {
        settle();
        if (answer.head.headers[HEADERS.proofs] === TAKES_MACS) proofs.noteMacs(next, true);
        if (come.length > answer.sizeBytes) stream.unshift(come.subarray(answer.sizeBytes));
        resolve(stream);
      } else {
        const { code, depot } = refusalIn(answer.head, asked);
        failWith(code, depot);
      }
    };
    let stopSending = () => {};
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      stopSending();
    };
    signal.addEventListener('abort', onAbort);
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
    if (signal.aborted) onAbort();
    else if (stream.destroyed) onEnd();
    else {
      // In the same packet, as far as it fits.
      stream.cork();
      stream.write(formatConnect({ ...target, proof }), 'latin1');
      stopSending = early.sendOver(stream);
      stream.uncork();
    }
  });
}

/** Why the next depot, or one behind it, refuses. A server that is no depot gives no code. */
function refusalIn(
  { headers }: AnswerHead,
  { target, place, next }: TunnelRequest,
): { readonly code: ErrorCode; readonly depot: string } {
  const code = String(headers[HEADERS.error] ?? '');
  const named = String(headers[HEADERS.depot] ?? '');
  // Only a depot further down this chain can have failed.
  const depot = target.chain.indexOf(named) > place ? named : next;
  return { code: isWireErrorCode(code) ? code : 'next-depot-unreachable', depot };
}
