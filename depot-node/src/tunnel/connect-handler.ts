import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  type ErrorCode,
  HEADERS,
  isWayFailure,
  LonghaulError,
  mostTelling,
  refuseThrown,
} from '@longhaul/shared';
import { STATUS_CODES, sayFarewell } from '@longhaul/shared/service';
import { refusalEvent, retryAfter } from '../door/refusal.ts';
import { type Arrival, arrivalOf } from '../jobs/arrival.ts';
import type { Admission, JobTable } from '../jobs/job-table.ts';
import { EarlyBytes } from '../legs/early-bytes.ts';
import type { ChainTarget, OpenNextLeg } from '../legs/next-leg.ts';
import { resetConnection } from '../sockets/reset.ts';
import { type AcceptComponents, type AcceptedConnect, acceptConnect } from './accept-connect.ts';
import { relayTunnel, type StandingTunnel } from './relay-tunnel.ts';
import { TunnelWatch } from './tunnel-ends.ts';

interface ConnectHandlerComponents extends AcceptComponents {
  readonly jobs: JobTable;
  readonly openNextLeg: OpenNextLeg;
  /** Takes over the place that a tunnel holds at the next depot; to be called when it has ended. */
  readonly takePlace: (tunnel: Duplex) => () => void;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
  /** Tunnels that one ticket of a client may have open at once. */
  readonly tunnelsPerJob: number;
}

/**
 * Serves `CONNECT`: from the previous depot of a chain, or from a client whose ticket is for a tunnel. Never
 * rejects.
 */
export function createConnectHandler(components: ConnectHandlerComponents) {
  const { plane } = components;
  const clientTunnels = new ClientTunnels(components.tunnelsPerJob);
  const watch = new TunnelWatch(plane.shutdown, plane.nowMs);
  // No frame that waits for a tunnel's end may know its connections, see `relayTunnel`.
  return (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> =>
    openTunnel(components, clientTunnels, request, socket, head)
      .catch(() => resetConnection(socket))
      .then((opened) => opened && relayTunnel(plane, watch, opened.tunnel).finally(opened.release));
}

interface OpenedTunnel {
  readonly tunnel: StandingTunnel;
  /** Gives back what was admitted. */
  readonly release: () => void;
}

/** Makes the way of a tunnel; `undefined` when that was refused, which the caller has been told. */
async function openTunnel(
  components: ConnectHandlerComponents,
  clientTunnels: ClientTunnels,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<OpenedTunnel | undefined> {
  const { fromDepot, jobs } = components;
  // Until the relay takes over, a caller that breaks off must not bring the process down.
  const over = new AbortController();
  const onLeft = () => over.abort(CALLER_LEFT);
  socket.on('error', onLeft);
  socket.once('close', onLeft);
  const accepted = await acceptConnect(components, request).catch(refuseThrown);
  if (!accepted.ok) return refuseConnect(components, request, socket, accepted.error, undefined);
  const { claims, place } = accepted.value;
  const leave = place > 0 ? () => undefined : clientTunnels.enter(claims.jobId);
  if (!leave) return refuseConnect(components, request, socket, new LonghaulError('job-busy'), claims.jobId);
  const admitted = jobs.admit(claims, arrivalAt(accepted.value, request));
  if (!admitted.ok) {
    leave();
    return refuseConnect(components, request, socket, admitted.error, claims.jobId);
  }
  const admission = admitted.value;
  const release = releasing(leave, admission);
  const { stop } = admission;
  const onStop = () => over.abort(stop.reason);
  stop.addEventListener('abort', onStop);
  if (stop.aborted) onStop();
  try {
    if (place > 0) fromDepot(socket);
    const early = new EarlyBytes(head, socket);
    const { upstream, target } = await openFirst(components, accepted.value, early, over.signal);
    socket.off('close', onLeft);
    const leavePlace = components.takePlace(upstream);
    const { chain, authority } = target;
    const isExit = place === chain.length - 1;
    const leaveOrigin = isExit ? components.plane.originStands(authority) : () => undefined;
    const firstBytes = early.sizeBytes;
    return {
      tunnel: {
        downstream: socket,
        upstream,
        claims,
        chain,
        origin: authority.host,
        place,
        admission,
        firstBytes,
      },
      release: () => {
        leavePlace();
        leaveOrigin();
        release();
      },
    };
  } catch (thrown) {
    release();
    if (over.signal.reason !== CALLER_LEFT)
      refuseConnect(components, request, socket, asLonghaulError(thrown), claims.jobId);
    return undefined;
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/** Told by nobody: whoever asked has gone. One for all, because to make it costs as much as to look a job up. */
const CALLER_LEFT = new Error('the caller has left');

function releasing(leave: () => void, admission: Admission): () => void {
  return () => {
    leave();
    admission.release();
  };
}

function arrivalAt({ place, targets }: AcceptedConnect, request: IncomingMessage): Arrival {
  const { chain = [] } = targets[0] ?? {};
  const depot = chain[place - 1];
  if (depot === undefined) return arrivalOf(request);
  return { from: 'depot', depot, isExit: place + 1 === chain.length };
}

/** Counts the tunnels of clients, so that a ticket for one download opens no more of them at once than it may. */
class ClientTunnels {
  readonly #mostPerJob: number;
  readonly #open = new Map<string, number>();

  constructor(mostPerJob: number) {
    this.#mostPerJob = mostPerJob;
  }

  /** Lets one more tunnel of a job in; gives what is to be called when it has ended, or `undefined` if it may not. */
  enter(jobId: string): (() => void) | undefined {
    const open = this.#open.get(jobId) ?? 0;
    if (open >= this.#mostPerJob) return undefined;
    this.#open.set(jobId, open + 1);
    return () => {
      const left = (this.#open.get(jobId) ?? 1) - 1;
      if (left === 0) this.#open.delete(jobId);
      else this.#open.set(jobId, left);
    };
  }
}

/** Opens the first chain that can be opened. The next one is tried only where that may do better. */
async function openFirst(
  { plane: { observe, ownId }, openNextLeg }: ConnectHandlerComponents,
  { claims, targets, place }: AcceptedConnect,
  early: EarlyBytes,
  signal: AbortSignal,
): Promise<{ upstream: Duplex; target: ChainTarget }> {
  const failures: LonghaulError[] = [];
  for (const target of targets) {
    try {
      return { upstream: await openNextLeg(target, place, signal, early), target };
    } catch (thrown) {
      signal.throwIfAborted();
      if (place > 0 || !isWayFailure(thrown)) throw thrown;
      failures.push(thrown);
      const { code, depot = ownId } = thrown;
      observe({ type: 'chain-failed', jobId: claims.jobId, code, depot });
    }
  }
  throw mostTelling(failures) ?? new LonghaulError('next-depot-unknown');
}

/**
 * Credentials that are no ticket, or are over: the client had better send others, which browsers that keep
 * them do only when they are asked.
 */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set([
  'ticket-malformed',
  'ticket-version-unknown',
  'ticket-start-over',
  'ticket-expired',
]);

function refuseConnect(
  { plane: { ownId, observe } }: ConnectHandlerComponents,
  request: IncomingMessage,
  socket: Duplex,
  error: LonghaulError,
  jobId: string | undefined,
): undefined {
  const depot = error.depot ?? ownId;
  observe(refusalEvent(error, jobId, ownId));
  if (socket.destroyed) return;
  const isClient = request.headers[HEADERS.proof] === undefined;
  const status = isClient && UNUSABLE.has(error.code) ? 407 : error.status;
  const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="Longhaul ticket"\r\n' : '';
  const later = Object.entries(retryAfter(status, error.retry)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  sayFarewell(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${challenge}${later.join('')}` +
      `${HEADERS.error}: ${error.code}\r\n${HEADERS.depot}: ${depot}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
}
