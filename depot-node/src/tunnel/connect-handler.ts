import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  type Chain,
  chainForEntry,
  HEADERS,
  hashAuthority,
  LonghaulError,
  MAX_ALTERNATIVES,
  ok,
  parseConnectTarget,
  type Result,
  refuse,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import type { Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import { sha256 } from '../identity.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { JobTable } from '../jobs/job-table.ts';
import type { Relay } from '../relay/relay-plane.ts';
import { retryAfter } from '../retry-after.ts';
import { sayFarewell } from '../sockets/farewell.ts';
import type { LegInfo, LegSampler } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import type { ProofChecker } from './caller-proof.ts';
import type { OpenNextLeg, Route } from './next-leg.ts';

interface ConnectHandlerComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
  readonly jobs: JobTable;
  readonly proofs: ProofChecker;
  readonly openNextLeg: OpenNextLeg;
  /** Asks the master for a fresh directory when `depot` is not in it; does nothing if that happened lately. */
  readonly ensureKnown: (depot: string) => Promise<void>;
  readonly observe: Observe;
  readonly relay: Relay;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
  /** How long a tunnel may rest: its client may have stopped reading. */
  readonly stallMs: number;
  readonly halfClosedSilenceMs: number;
  readonly nowMs: () => number;
  readonly shutdown: AbortSignal;
}

interface AcceptedConnect {
  readonly claims: TicketClaims;
  readonly route: Route;
  readonly place: number;
}

/** Serves `CONNECT`: from the previous depot of a chain, or from a client whose ticket is for a tunnel. */
export function createConnectHandler(components: ConnectHandlerComponents) {
  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // Until the relay takes over, a caller that breaks off must not bring the process down.
    const left = new AbortController();
    const onLeft = () => left.abort();
    socket.on('error', onLeft);
    socket.once('close', onLeft);
    const accepted = await accept(components, request).catch(refuseThrown);
    if (!accepted.ok) {
      refuseConnect(components, socket, accepted.error, undefined);
      return;
    }
    const { claims, place } = accepted.value;
    const isExit = place === accepted.value.route.chain.length - 1;
    const admission = components.jobs.admit(
      claims,
      place > 0 ? { from: 'depot', isExit } : arrivalOf(request),
    );
    if (!admission.ok) {
      refuseConnect(components, socket, admission.error, claims.jobId);
      return;
    }
    try {
      if (place > 0) components.fromDepot(socket);
      const signal = AbortSignal.any([left.signal, components.shutdown]);
      const upstream = await components.openNextLeg(accepted.value.route, place, signal, head);
      socket.off('close', onLeft);
      await runTunnel(components, accepted.value, socket, upstream, head.length, admission.value.note);
    } catch (thrown) {
      if (!left.signal.aborted) refuseConnect(components, socket, asLonghaulError(thrown), claims.jobId);
    } finally {
      admission.value.release();
    }
  };
}

async function accept(
  { ownId, gate, proofs, ensureKnown }: ConnectHandlerComponents,
  request: IncomingMessage,
): Promise<Result<AcceptedConnect>> {
  const authority = parseConnectTarget(request.url ?? '');
  if (!authority.ok) return authority;
  const proof = request.headers[HEADERS.proof];
  const ticket = proof === undefined ? clientTicket(request) : request.headers[HEADERS.ticket];
  if (typeof ticket !== 'string') return refuse('ticket-missing');
  const opened = await gate.open(ticket, request.socket);
  if (!opened.ok) return opened;
  const claims = opened.value;
  const { host, port } = authority.value;
  if (claims.authorityHash !== hashAuthority(host, port, sha256)) return refuse('ticket-wrong-authority');
  if (proof === undefined) {
    if (claims.kind !== 'tunnel') return refuse('ticket-wrong-kind');
    const chain = chainForEntry(claims, 0, ownId);
    if (!chain) return refuse('ticket-wrong-depot');
    return ok({ claims, place: 0, route: { ticket, chainIndex: 0, chain, authority: authority.value } });
  }
  const chainIndex = readChainIndex(request);
  const chain: Chain | undefined = chainIndex === undefined ? undefined : claims.chains[chainIndex];
  const place = chain?.indexOf(ownId) ?? -1;
  if (chainIndex === undefined || !chain || place < 1) return refuse('ticket-wrong-depot');
  await ensureKnown(chain[place - 1] ?? '');
  const proved = proofs.check(String(proof), ticket, chainIndex, chain, place);
  if (!proved.ok) return proved;
  return ok({ claims, place, route: { ticket, chainIndex, chain, authority: authority.value } });
}

/** A client's ticket: `Proxy-Authorization: Longhaul <ticket>`, or Basic with the ticket as password. */
function clientTicket(request: IncomingMessage): string | undefined {
  const [scheme = '', value = ''] = (request.headers['proxy-authorization'] ?? '').split(' ', 2);
  if (scheme.toLowerCase() === 'longhaul') return value;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const credentials = Buffer.from(value, 'base64').toString('latin1');
  return credentials.slice(credentials.indexOf(':') + 1);
}

function readChainIndex(request: IncomingMessage): number | undefined {
  const text = request.headers[HEADERS.chain];
  if (typeof text !== 'string' || !/^[0-9]$/.test(text)) return undefined;
  return Number(text) <= MAX_ALTERNATIVES ? Number(text) : undefined;
}

async function runTunnel(
  components: ConnectHandlerComponents,
  { claims, route, place }: AcceptedConnect,
  socket: Duplex,
  upstream: Duplex,
  firstBytes: number,
  onDown: (bytes: number) => void,
): Promise<void> {
  const { ownId, observe, relay, watch, stallMs, halfClosedSilenceMs, shutdown, nowMs } = components;
  const started = nowMs();
  if (socket.destroyed) {
    resetConnection(upstream);
    return;
  }
  socket.write(`HTTP/1.1 200 Connected\r\n${HEADERS.depot}: ${ownId}\r\n\r\n`);
  const legs = legsOf(route.chain, place).map(({ stream, info }) =>
    watch(stream === 'downstream' ? socket : upstream, { ...info, handedOver: true }),
  );
  const leaveUplink = components.joinUplink?.(socket, {
    jobId: claims.jobId,
    legClass: place === 0 ? 'client' : 'depot',
    handedOver: true,
  });
  const result = await relay.tunnel(socket, upstream, {
    silenceMs: stallMs,
    halfClosedSilenceMs,
    signal: shutdown,
    onDown,
  });
  leaveUplink?.();
  for (const leg of legs) leg.stop();
  const seconds = (nowMs() - started) / 1000;
  const role = place === 0 ? 'entry' : place === route.chain.length - 1 ? 'exit' : 'middle';
  const { outcome, bytesDown } = result;
  const bytesUp = firstBytes + result.bytesUp;
  observe({ type: 'tunnel', jobId: claims.jobId, role, seconds, outcome, bytesUp, bytesDown });
}

/** Whom the two ends of a tunnel lead to. */
function legsOf(chain: Chain, place: number) {
  const before = chain[place - 1];
  const after = chain[place + 1];
  const downstream: LegInfo =
    before === undefined ? { legClass: 'client' } : { legClass: 'depot', depot: before };
  const upstream: LegInfo =
    after === undefined ? { legClass: 'origin' } : { legClass: 'depot', depot: after };
  return [
    { stream: 'downstream', info: downstream },
    { stream: 'upstream', info: upstream },
  ] as const;
}

function refuseConnect(
  { ownId, observe }: ConnectHandlerComponents,
  socket: Duplex,
  error: LonghaulError,
  jobId: string | undefined,
): void {
  const depot = error.depot ?? ownId;
  observe({ type: 'refusal', code: error.code, jobId, depot, detail: error.detail });
  if (socket.destroyed) return;
  const challenge = error.status === 407 ? 'Proxy-Authenticate: Basic realm="Longhaul ticket"\r\n' : '';
  const later = Object.entries(retryAfter(error.status, error.retry)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  sayFarewell(
    socket,
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Refused'}\r\n${challenge}${later.join('')}` +
      `${HEADERS.error}: ${error.code}\r\n${HEADERS.depot}: ${depot}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
}
