import type { Duplex } from 'node:stream';
import { type Chain, HEADERS, LonghaulError, TAKES_MACS, type TicketClaims } from '@longhaul/shared';
import { downstreamLeg, upstreamLeg } from '../estimates/leg-sampler.ts';
import { LegSummaries } from '../estimates/leg-summaries.ts';
import type { Admission } from '../jobs/job-table.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { TunnelBreak, TunnelOutcome } from '../relay/relay-plane.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { TunnelEnds, TunnelWatch } from './tunnel-ends.ts';

/** A tunnel whose way stands, before anything is relayed. */
export interface StandingTunnel {
  readonly downstream: Duplex;
  readonly upstream: Duplex;
  readonly claims: TicketClaims;
  readonly chain: Chain;
  /** The host that its bytes are from. */
  readonly origin: string;
  /** 0 for a client's. */
  readonly place: number;
  readonly admission: Admission;
  /** Bytes of the caller that went along while the way was made. */
  readonly firstBytes: number;
}

/**
 * Tells the caller that its tunnel stands, relays it to its end, and reports that. Never rejects. Nothing
 * here may wait in a frame that knows the connections: once the kernel moves their bytes, Node's sockets are
 * to be forgotten, which are most of what an idle tunnel would hold.
 */
export function relayTunnel(plane: DataPlane, watch: TunnelWatch, tunnel: StandingTunnel): Promise<void> {
  const { downstream, upstream, claims, chain, origin, place, admission, firstBytes } = tunnel;
  if (downstream.destroyed) {
    resetConnection(upstream);
    return Promise.resolve();
  }
  // The ticket's budget and life are for the entry depot to keep, for the whole chain.
  const isEntry = place === 0;
  const proofs = isEntry ? '' : `${HEADERS.proofs}: ${TAKES_MACS}\r\n`;
  downstream.write(`HTTP/1.1 200 Connected\r\n${HEADERS.depot}: ${plane.ownId}\r\n${proofs}\r\n`);
  const legs = new LegSummaries();
  legs.watch(plane.watch(downstream, { ...downstreamLeg(chain, place), handedOver: true }));
  legs.watch(plane.watch(upstream, { ...upstreamLeg(chain, place, origin), handedOver: true }));
  const { answerMs, connectMs } = plane.timeouts;
  const ends = watch.begin({
    answerMs: answerMs + connectMs,
    ...(isEntry ? { client: { ticket: claims, stop: admission.stop } } : {}),
  });
  const leaveUplink = plane.joinUplink?.(downstream, {
    jobId: claims.jobId,
    legClass: isEntry ? 'client' : 'depot',
    handedOver: true,
  });
  // What a client sends through a tunnel of its own counts as well.
  if (isEntry) admission.note(firstBytes);
  const role = isEntry ? 'entry' : place === chain.length - 1 ? 'exit' : 'middle';
  const leaveLegs = plane.legs.add(claims.jobId, legs);
  const account = {
    jobId: claims.jobId,
    neighbours: { 'downstream-broke': chain[place - 1], 'upstream-broke': chain[place + 1] },
    role,
    legs,
    leaveLegs,
    ends,
    leaveUplink,
    admission,
    firstBytes,
  } as const;
  return runAccount(plane, account, (options) => plane.relay.tunnel(downstream, upstream, options));
}

interface TunnelAccount {
  readonly jobId: string;
  /** The depots at its ends. */
  readonly neighbours: Readonly<Partial<Record<TunnelBreak, string | undefined>>>;
  readonly role: 'entry' | 'middle' | 'exit';
  readonly legs: LegSummaries;
  readonly leaveLegs: () => void;
  readonly ends: TunnelEnds;
  readonly leaveUplink: (() => void) | undefined;
  readonly admission: Admission;
  readonly firstBytes: number;
}

type Begin = (options: Parameters<DataPlane['relay']['tunnel']>[2]) => Promise<TunnelOutcome>;

/** `begin` knows the connections, and is forgotten as soon as it was called. */
function runAccount(plane: DataPlane, account: TunnelAccount, begin: Begin): Promise<void> {
  const { ends, admission, role } = account;
  const startedMs = plane.steadyMs();
  return begin({
    // Its client may have stopped reading.
    silenceMs: plane.timeouts.stallMs,
    halfClosedSilenceMs: plane.timeouts.silenceMs,
    signal: ends.signal,
    onDown: notingAnswers(ends, admission),
    ...(role === 'entry' ? { onUp: admission.note } : {}),
  }).then(closing(plane, account, startedMs));
}

function notingAnswers(ends: TunnelEnds, { note }: Admission): (bytes: number) => void {
  return (bytes) => {
    ends.noteAnswer();
    note(bytes);
  };
}

/** What is done at the end of a tunnel. */
function closing(plane: DataPlane, account: TunnelAccount, startedMs: number) {
  return ({ outcome, reason, bytesUp, bytesDown }: TunnelOutcome): void => {
    const { jobId, role, ends, legs, leaveLegs, leaveUplink, firstBytes } = account;
    const { ownId, observe, shutdown, steadyMs } = plane;
    ends.stop();
    leaveUplink?.();
    leaveLegs();
    const ended = legs.end();
    const breaker = reason && account.neighbours[reason];
    if (breaker !== undefined) plane.suspect(breaker);
    const why: unknown = ends.signal.reason;
    if (why instanceof LonghaulError && why !== shutdown.reason && reason === 'cancelled')
      observe({ type: 'refusal', code: why.code, jobId, depot: ownId, detail: 'tunnel ended' });
    observe({
      type: 'tunnel',
      jobId,
      role,
      seconds: (steadyMs() - startedMs) / 1000,
      outcome,
      bytesUp: firstBytes + bytesUp,
      bytesDown,
      legs: ended,
    });
  };
}
