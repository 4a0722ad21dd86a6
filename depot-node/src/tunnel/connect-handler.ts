import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  type ErrorCode,
  HEADERS,
  isWayFailure,
  LonghaulError,
  mostTelling,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import { sayFarewell } from '@longhaul/shared/service';
import { refusalEvent, retryAfter } from '../door/refusal.ts';
import { type Arrival, arrivalOf } from '../jobs/arrival.ts';
import type { Admission, JobTable } from '../jobs/job-table.ts';
import { EarlyBytes } from '../legs/early-bytes.ts';
import type { ChainTarget, OpenNextLeg } from '../legs/next-leg.ts';
import { downstreamLeg, upstreamLeg } from '../sockets/leg-sampler.ts';
import { LegSummaries } from '../sockets/leg-summaries.ts';
import { resetConnection } from '../sockets/reset.ts';
import { type AcceptComponents, type AcceptedConnect, acceptConnect } from './accept-connect.ts';
import { watchTunnelEnds } from './tunnel-ends.ts';

interface ConnectHandlerComponents extends AcceptComponents {
  readonly jobs: JobTable;
  readonly openNextLeg: OpenNextLeg;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
  /** Tunnels that one ticket of a client may have open at once. */
  readonly tunnelsPerJob: number;
}

/** Serves `CONNECT`: from the previous depot of a chain, or from a client whose ticket is for a tunnel. */
export function createConnectHandler(components: ConnectHandlerComponents) {
  const { fromDepot, jobs, plane } = components;
  const clientTunnels = new ClientTunnels(components.tunnelsPerJob);
  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // Until the relay takes over, a caller that breaks off must not bring the process down.
    const left = new AbortController();
    const onLeft = () => left.abort();
    socket.on('error', onLeft);
    socket.once('close', onLeft);
    const accepted = await acceptConnect(components, request).catch(refuseThrown);
    if (!accepted.ok) {
      refuseConnect(components, request, socket, accepted.error, undefined);
      return;
    }
    const { claims, place } = accepted.value;
    const leave = place > 0 ? () => undefined : clientTunnels.enter(claims.jobId);
    if (!leave) {
      refuseConnect(components, request, socket, new LonghaulError('job-busy'), claims.jobId);
      return;
    }
    const admission = jobs.admit(claims, arrivalAt(accepted.value, request));
    if (!admission.ok) {
      leave();
      refuseConnect(components, request, socket, admission.error, claims.jobId);
      return;
    }
    try {
      if (place > 0) fromDepot(socket);
      const signal = AbortSignal.any([left.signal, plane.shutdown]);
      const early = new EarlyBytes(head, socket);
      const { upstream, target } = await openFirst(components, accepted.value, early, signal);
      socket.off('close', onLeft);
      const open = { claims, target, place, admission: admission.value };
      await runTunnel(components, open, socket, upstream, early.sizeBytes);
    } catch (thrown) {
      if (!left.signal.aborted)
        refuseConnect(components, request, socket, asLonghaulError(thrown), claims.jobId);
    } finally {
      leave();
      admission.value.release();
    }
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

interface OpenTunnel {
  readonly claims: TicketClaims;
  readonly target: ChainTarget;
  readonly place: number;
  readonly admission: Admission;
}

async function runTunnel(
  { plane }: ConnectHandlerComponents,
  { claims, target: { chain }, place, admission }: OpenTunnel,
  socket: Duplex,
  upstream: Duplex,
  firstBytes: number,
): Promise<void> {
  const { ownId, observe, relay, watch, timeouts, shutdown, nowMs } = plane;
  const { jobId } = claims;
  const started = nowMs();
  if (socket.destroyed) {
    resetConnection(upstream);
    return;
  }
  socket.write(`HTTP/1.1 200 Connected\r\n${HEADERS.depot}: ${ownId}\r\n\r\n`);
  const legs = new LegSummaries();
  legs.watch(watch(socket, { ...downstreamLeg(chain, place), handedOver: true }));
  legs.watch(watch(upstream, { ...upstreamLeg(chain, place), handedOver: true }));
  // The ticket's budget and life are for the entry depot to keep, for the whole chain.
  const isEntry = place === 0;
  const ends = watchTunnelEnds(timeouts.answerMs + timeouts.connectMs, isEntry ? claims : undefined, nowMs);
  const over = isEntry ? AbortSignal.any([ends.signal, admission.spent]) : ends.signal;
  const leaveUplink = plane.joinUplink?.(socket, {
    jobId,
    legClass: isEntry ? 'client' : 'depot',
    handedOver: true,
  });
  // What a client sends through a tunnel of its own counts as well.
  if (isEntry) admission.note(firstBytes);
  const result = await relay.tunnel(socket, upstream, {
    // Its client may have stopped reading.
    silenceMs: timeouts.stallMs,
    halfClosedSilenceMs: timeouts.silenceMs,
    signal: AbortSignal.any([shutdown, over]),
    onDown: (bytes) => {
      ends.noteAnswer();
      admission.note(bytes);
    },
    ...(isEntry ? { onUp: admission.note } : {}),
  });
  ends.stop();
  leaveUplink?.();
  const ended = legs.end();
  if (over.reason instanceof LonghaulError && result.reason === 'cancelled')
    observe({ type: 'refusal', code: over.reason.code, jobId, depot: ownId, detail: 'tunnel ended' });
  const seconds = (nowMs() - started) / 1000;
  const role = isEntry ? 'entry' : place === chain.length - 1 ? 'exit' : 'middle';
  const { outcome, bytesDown } = result;
  const bytesUp = firstBytes + result.bytesUp;
  observe({ type: 'tunnel', jobId, role, seconds, outcome, bytesUp, bytesDown, legs: ended });
}

/** Credentials that are no ticket: the client had better send others. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set(['ticket-malformed', 'ticket-version-unknown']);

function refuseConnect(
  { plane: { ownId, observe } }: ConnectHandlerComponents,
  request: IncomingMessage,
  socket: Duplex,
  error: LonghaulError,
  jobId: string | undefined,
): void {
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
