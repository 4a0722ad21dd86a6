import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import {
  type Authority,
  type Chain,
  type DepotEntry,
  formatAuthority,
  formatProof,
  HEADERS,
  isWireErrorCode,
  LonghaulError,
} from '@longhaul/shared';
import type { Dial } from '../sockets/dial.ts';
import { resetConnection } from '../sockets/reset.ts';
import { secure } from '../sockets/secure.ts';
import type { ProofMaker } from './caller-proof.ts';

/** The way of one connection: which chain of which ticket, to which origin. */
export interface Route {
  readonly ticket: string;
  readonly chainIndex: number;
  readonly chain: Chain;
  readonly authority: Authority;
}

interface NextLegComponents {
  readonly dial: Dial;
  readonly findDepot: (id: string) => Promise<DepotEntry | undefined>;
  readonly trust: SecureContext;
  readonly proofs: ProofMaker;
  readonly noteRtt: (depot: string, rttMs: number) => void;
  readonly connectTimeoutMs: number;
}

/**
 * Opens the way from the depot at `place` of a route's chain to the origin: the last depot dials the origin itself,
 * every other one asks the next depot for a tunnel. Rejects with a `LonghaulError` that names the depot that failed.
 */
export type OpenNextLeg = (route: Route, place: number, signal: AbortSignal) => Promise<Duplex>;

export function createNextLeg(components: NextLegComponents): OpenNextLeg {
  return async (route, place, signal) => {
    const next = route.chain[place + 1];
    if (next !== undefined) return openTunnel(components, route, place, next, signal);
    const { socket } = await components.dial({ purpose: 'origin', ...route.authority }, signal);
    return socket;
  };
}

async function openTunnel(
  components: NextLegComponents,
  route: Route,
  place: number,
  next: string,
  signal: AbortSignal,
): Promise<Duplex> {
  const entry = await components.findDepot(next);
  if (!entry) throw new LonghaulError('next-depot-unknown', { depot: next });
  try {
    const dialled = await components.dial({ purpose: 'depot', host: entry.host, port: entry.port }, signal);
    components.noteRtt(next, dialled.rttMs);
    const codes = {
      refused: 'next-depot-tls-failed',
      broken: 'next-depot-unreachable',
      timeout: 'next-depot-timeout',
    } as const;
    const stream = entry.tls
      ? await secure(dialled.socket, entry.host, components.trust, codes, signal)
      : dialled.socket;
    return await connectThrough(stream, components, route, place, next, signal);
  } catch (failure) {
    if (failure instanceof LonghaulError && failure.depot === undefined) {
      throw new LonghaulError(failure.code, { ...detailOf(failure), depot: next, cause: failure.cause });
    }
    throw failure;
  }
}

function detailOf(failure: LonghaulError): { detail?: string } {
  return failure.detail === undefined ? {} : { detail: failure.detail };
}

function connectThrough(
  stream: Duplex,
  { proofs, connectTimeoutMs }: NextLegComponents,
  route: Route,
  place: number,
  next: string,
  signal: AbortSignal,
): Promise<Duplex> {
  const authority = formatAuthority(route.authority.host, route.authority.port);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        [HEADERS.ticket]: route.ticket,
        [HEADERS.chain]: String(route.chainIndex),
        [HEADERS.proof]: formatProof(proofs.make(route.ticket, route.chainIndex, place)),
      },
      createConnection: () => stream,
    });
    // Every depot further on may need its own time to connect, and shall be the one that names the failure.
    const patienceMs = connectTimeoutMs * (route.chain.length - place);
    const timer = setTimeout(
      () => fail(new LonghaulError('next-depot-timeout', { depot: next })),
      patienceMs,
    );
    // Not left to the request itself: that would end the chain where a reset frees it at once.
    const onAbort = () =>
      fail(new LonghaulError('next-depot-unreachable', { depot: next, cause: signal.reason }));
    signal.addEventListener('abort', onAbort);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (failure: LonghaulError) => {
      settle();
      resetConnection(stream);
      reject(failure);
    };
    outgoing.on('error', (cause) =>
      fail(new LonghaulError('next-depot-unreachable', { depot: next, cause })),
    );
    // A refusal before the tunnel may also come as an ordinary response, from a server that is no depot.
    outgoing.once('response', () => fail(new LonghaulError('next-depot-unreachable', { depot: next })));
    outgoing.once('connect', (answer, socket, head) => {
      if (answer.statusCode !== 200) {
        const code = String(answer.headers[HEADERS.error] ?? '');
        const named = String(answer.headers[HEADERS.depot] ?? '');
        // Only a depot further down this chain can have failed.
        const depot = route.chain.indexOf(named) > place ? named : next;
        fail(new LonghaulError(isWireErrorCode(code) ? code : 'next-depot-unreachable', { depot }));
        return;
      }
      settle();
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    if (signal.aborted) onAbort();
    else outgoing.end();
  });
}
