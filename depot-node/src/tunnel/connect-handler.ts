import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  type ErrorCode,
  HEADERS,
  LonghaulError,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import { sayFarewell } from '@longhaul/shared/service';
import type { Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { Admission, JobTable } from '../jobs/job-table.ts';
import type { Relay } from '../relay/relay-plane.ts';
import { retryAfter } from '../retry-after.ts';
import { downstreamLeg, type LegSampler, upstreamLeg } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import { type AcceptComponents, type AcceptedConnect, acceptConnect } from './accept-connect.ts';
import { CHAIN_FAILURES } from './chain-failures.ts';
import { ClientTunnels } from './client-tunnels.ts';
import type { OpenNextLeg, Route } from './next-leg.ts';
import { watchTunnelBudget } from './tunnel-budget.ts';

interface ConnectHandlerComponents extends AcceptComponents {
  readonly jobs: JobTable;
  readonly openNextLeg: OpenNextLeg;
  readonly observe: Observe;
  readonly relay: Relay;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
  /** Tunnels that one ticket of a client may have open at once. */
  readonly tunnelsPerJob: number;
  /** How long a tunnel may rest: its client may have stopped reading. */
  readonly stallMs: number;
  readonly halfClosedSilenceMs: number;
  readonly nowMs: () => number;
  readonly shutdown: AbortSignal;
}

/** Serves `CONNECT`: from the previous depot of a chain, or from a client whose ticket is for a tunnel. */
export function createConnectHandler(components: ConnectHandlerComponents) {
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
    const isExit = place + 1 === accepted.value.routes[0]?.chain.length;
    const admission = components.jobs.admit(
      claims,
      place > 0 ? { from: 'depot', isExit } : arrivalOf(request),
    );
    if (!admission.ok) {
      leave();
      refuseConnect(components, request, socket, admission.error, claims.jobId);
      return;
    }
    try {
      if (place > 0) components.fromDepot(socket);
      const signal = AbortSignal.any([left.signal, components.shutdown]);
      const { upstream, route } = await openFirst(components, accepted.value, head, signal);
      socket.off('close', onLeft);
      const open = { claims, route, place, admission: admission.value };
      await runTunnel(components, open, socket, upstream, head.length);
    } catch (thrown) {
      if (!left.signal.aborted)
        refuseConnect(components, request, socket, asLonghaulError(thrown), claims.jobId);
    } finally {
      leave();
      admission.value.release();
    }
  };
}

/** Opens the first way that can be opened. Only failures of a chain let the next one be tried. */
async function openFirst(
  { ownId, openNextLeg, observe }: ConnectHandlerComponents,
  { claims, routes, place }: AcceptedConnect,
  head: Buffer,
  signal: AbortSignal,
): Promise<{ upstream: Duplex; route: Route }> {
  let failure = new LonghaulError('next-depot-unknown');
  for (const route of routes) {
    try {
      return { upstream: await openNextLeg(route, place, signal, head), route };
    } catch (thrown) {
      signal.throwIfAborted();
      if (place > 0 || !(thrown instanceof LonghaulError) || !CHAIN_FAILURES.has(thrown.code)) throw thrown;
      failure = thrown;
      const { code, depot = ownId } = thrown;
      observe({ type: 'chain-failed', jobId: claims.jobId, code, depot });
    }
  }
  throw failure;
}

interface OpenTunnel {
  readonly claims: TicketClaims;
  readonly route: Route;
  readonly place: number;
  readonly admission: Admission;
}

async function runTunnel(
  components: ConnectHandlerComponents,
  { claims, route, place, admission }: OpenTunnel,
  socket: Duplex,
  upstream: Duplex,
  firstBytes: number,
): Promise<void> {
  const { ownId, observe, relay, watch, stallMs, halfClosedSilenceMs, shutdown, nowMs } = components;
  const started = nowMs();
  if (socket.destroyed) {
    resetConnection(upstream);
    return;
  }
  socket.write(`HTTP/1.1 200 Connected\r\n${HEADERS.depot}: ${ownId}\r\n\r\n`);
  const legs = [
    watch(socket, { ...downstreamLeg(route.chain, place), handedOver: true }),
    watch(upstream, { ...upstreamLeg(route.chain, place), handedOver: true }),
  ];
  // The entry depot decides for the whole chain.
  const budget = place === 0 ? watchTunnelBudget(claims, admission, nowMs) : undefined;
  const leaveUplink = components.joinUplink?.(socket, {
    jobId: claims.jobId,
    legClass: place === 0 ? 'client' : 'depot',
    handedOver: true,
  });
  const result = await relay.tunnel(socket, upstream, {
    silenceMs: stallMs,
    halfClosedSilenceMs,
    signal: budget ? AbortSignal.any([shutdown, budget.signal]) : shutdown,
    onDown: (bytes) => {
      if (budget) budget.spend(bytes);
      else admission.note(bytes);
    },
  });
  budget?.stop();
  leaveUplink?.();
  for (const leg of legs) leg.stop();
  const over: unknown = budget?.signal.reason;
  if (over instanceof LonghaulError)
    observe({ type: 'refusal', code: over.code, jobId: claims.jobId, depot: ownId, detail: 'tunnel ended' });
  const seconds = (nowMs() - started) / 1000;
  const role = place === 0 ? 'entry' : place === route.chain.length - 1 ? 'exit' : 'middle';
  const { outcome, bytesDown } = result;
  const bytesUp = firstBytes + result.bytesUp;
  // What a client sends through a tunnel of its own counts for the next one.
  if (budget) admission.note(bytesUp);
  observe({ type: 'tunnel', jobId: claims.jobId, role, seconds, outcome, bytesUp, bytesDown });
}

/** Credentials that are no ticket: the client had better send others. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set(['ticket-malformed', 'ticket-version-unknown']);

function refuseConnect(
  { ownId, observe }: ConnectHandlerComponents,
  request: IncomingMessage,
  socket: Duplex,
  error: LonghaulError,
  jobId: string | undefined,
): void {
  const depot = error.depot ?? ownId;
  observe({ type: 'refusal', code: error.code, jobId, depot, detail: error.detail });
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
