/**
 * Closed-form models of TCP that the planner uses. Loss probabilities are per packet, rates in bits per second.
 *
 * - random loss, Reno: w = 1.31 / sqrt(p) segments (Mathis et al., CCR 27(3), 1997, for random loss, no delayed ACK)
 * - random loss, CUBIC: w = max(1.054 (R/p)^0.75, sqrt(1.5/p)), R in seconds (RFC 9438 section 5, C = 0.4, beta = 0.7)
 * - BBR version 1: the rate times 1 - p up to a loss of about 15 % (Cardwell et al., CACM 60(2), 2017)
 * - window limit: W / R
 * - slow start: log_g(d (g-1)/w1 + 1) rounds for d segments, g = 2 (Cardwell, Savage, Anderson, INFOCOM 2000)
 */
import { SEGMENT_BYTES, transferSeconds } from './units.ts';

export type CongestionControl = 'reno' | 'cubic' | 'bbr';

/** What is known of one leg: estimates, not promises. */
export interface LegEstimate {
  readonly rttMs: number;
  /** Loss probability of a packet, 0 to 1. */
  readonly lossRate: number;
  /** Capacity of the narrowest link, payload bits per second. */
  readonly rateBps: number;
  /** Largest window that both ends' buffers allow, in bytes. */
  readonly windowBytes: number;
  readonly sender: CongestionControl;
}

export interface LegGoodput {
  readonly goodputBps: number;
  readonly limit: 'rate' | 'window' | 'loss';
}

/** Initial window of today's senders, in segments (RFC 6928). */
const INITIAL_WINDOW_SEGMENTS = 10;
/** Below this many segments no loss model holds; a sender keeps at least this window. */
const SMALLEST_WINDOW_SEGMENTS = 1;

/** Steady goodput of one leg alone, and what limits it. */
export function legGoodput(leg: LegEstimate): LegGoodput {
  const rttSeconds = Math.max(leg.rttMs, 0.01) / 1000;
  const byWindow = (leg.windowBytes * 8) / rttSeconds;
  const byLoss = lossLimitBps(leg, rttSeconds);
  const goodputBps = Math.min(leg.rateBps, byWindow, byLoss);
  // BBR paces at the line's rate and loses only what the line loses: the line is the limit, not the loss.
  const byLine = goodputBps === leg.rateBps || (leg.sender === 'bbr' && goodputBps === byLoss);
  if (byLine) return { goodputBps, limit: 'rate' };
  return { goodputBps, limit: goodputBps === byWindow ? 'window' : 'loss' };
}

function lossLimitBps(leg: LegEstimate, rttSeconds: number): number {
  const p = leg.lossRate;
  if (p <= 0) return Number.POSITIVE_INFINITY;
  if (leg.sender === 'bbr') return leg.rateBps * (1 - p);
  const reno = leg.sender === 'reno' ? 1.31 / Math.sqrt(p) : Math.sqrt(1.5 / p);
  const cubic = leg.sender === 'cubic' ? 1.054 * (rttSeconds / p) ** 0.75 : 0;
  return (Math.max(reno, cubic, SMALLEST_WINDOW_SEGMENTS) * SEGMENT_BYTES * 8) / rttSeconds;
}

/** Seconds from the first byte sent until `sizeBytes` have left the sender of one leg, slow start included. */
export function legSeconds(leg: LegEstimate, sizeBytes: number): number {
  const rttSeconds = Math.max(leg.rttMs, 0.01) / 1000;
  const { goodputBps } = legGoodput(leg);
  const windowSegments = (goodputBps * rttSeconds) / 8 / SEGMENT_BYTES;
  if (windowSegments <= INITIAL_WINDOW_SEGMENTS) return transferSeconds(sizeBytes, goodputBps);
  const segments = sizeBytes / SEGMENT_BYTES;
  const rampRounds = Math.log2(windowSegments / INITIAL_WINDOW_SEGMENTS);
  const rampSegments = windowSegments - INITIAL_WINDOW_SEGMENTS;
  if (segments <= rampSegments) return Math.log2(segments / INITIAL_WINDOW_SEGMENTS + 1) * rttSeconds;
  return rampRounds * rttSeconds + transferSeconds(sizeBytes - rampSegments * SEGMENT_BYTES, goodputBps);
}

/** Milliseconds until the request reaches the origin and its first byte is on the way to the client. */
export interface SetUp {
  /** Whether client and entry depot (or origin, when direct) speak TLS. */
  readonly clientTls: boolean;
  /** Whether the origin speaks TLS. */
  readonly originTls: boolean;
}

/**
 * Seconds before the body starts, in cascade signalling. `rttsMs` are the legs' round-trip times from the client on:
 * client-D1, D1-D2, ..., Dk-origin; one leg means direct. Each leg costs its TCP handshake, TLS one round trip of what it
 * spans, the request one round trip of everything. Over http the request goes along with `CONNECT`; TLS with the origin
 * waits until the chain stands, one round trip of each leg between depots.
 */
export function setUpSeconds(rttsMs: readonly number[], { clientTls, originTls }: SetUp): number {
  const total = rttsMs.reduce((sum, rttMs) => sum + rttMs, 0);
  const clientLeg = rttsMs[0] ?? 0;
  if (rttsMs.length <= 1) return (total * (originTls ? 3 : 2)) / 1000;
  const connects = rttsMs.slice(1, -1).reduce((sum, rttMs) => sum + rttMs, 0);
  const originTlsMs = originTls ? connects + (total - clientLeg) : 0;
  return (total + (clientTls ? clientLeg : 0) + originTlsMs + total) / 1000;
}

/**
 * Seconds until the last byte of `sizeBytes` is with the client: set-up, then the slowest leg, then half a round trip on
 * each of the others, because the legs work as a pipeline.
 */
export function chainSeconds(legs: readonly LegEstimate[], sizeBytes: number, setUp: SetUp): number {
  const times = legs.map((leg) => legSeconds(leg, sizeBytes));
  const slowest = times.indexOf(Math.max(...times));
  const pipeline = legs.reduce((sum, leg, index) => (index === slowest ? sum : sum + leg.rttMs / 2000), 0);
  const start = setUpSeconds(
    legs.map((leg) => leg.rttMs),
    setUp,
  );
  return start + (times[slowest] ?? 0) + pipeline;
}
