/**
 * Closed-form models of TCP that the planner uses. Loss probabilities are per packet, rates in bits per
 * second.
 *
 * - random loss: the response functions of congestion-controls.ts
 * - window limit: W / R
 * - the time of a leg, from slow start on: leg-time.ts
 *
 * A download with n lanes has n parallel connections on every leg but the client's own. Windows and random
 * losses hold back each connection for itself, so n of them carry n times as much, up to the line; a sender
 * whose response holds the rate (BBR) is held back by the line alone, and gains nothing from a second
 * connection.
 */
import { CONGESTION_CONTROLS, type LossResponse } from './congestion-controls.ts';
import {
  FITTED,
  type FittedConstants,
  type LegEstimate,
  type LegShape,
  legShape,
  shapeSeconds,
} from './leg-time.ts';
import { SEGMENT_BYTES } from './units.ts';

export interface LegGoodput {
  readonly goodputBps: number;
  readonly limit: 'rate' | 'window' | 'loss';
}

/** Below this many segments no loss model holds; a sender keeps at least this window. */
const SMALLEST_WINDOW_SEGMENTS = 1;

/** Steady goodput of one leg alone, over `lanes` parallel connections together, and what limits it. */
export function legGoodput(leg: LegEstimate, lanes = 1): LegGoodput {
  if (leg.connectionBps !== undefined) {
    return { goodputBps: Math.min(leg.rateBps, lanes * leg.connectionBps), limit: 'rate' };
  }
  const rttSeconds = Math.max(leg.rttMs, 0.01) / 1000;
  const byWindow = (lanes * leg.windowBytes * 8) / rttSeconds;
  const { response } = CONGESTION_CONTROLS[leg.sender];
  const byLoss = lossLimitBps(leg, response, rttSeconds, lanes);
  const goodputBps = Math.min(leg.rateBps, byWindow, byLoss);
  // Who sends at the line's rate loses only what the line loses: the line is the limit, not the loss.
  const byLine = goodputBps === leg.rateBps || (response.holds === 'rate' && goodputBps === byLoss);
  if (byLine) return { goodputBps, limit: 'rate' };
  return { goodputBps, limit: goodputBps === byWindow ? 'window' : 'loss' };
}

function lossLimitBps(leg: LegEstimate, response: LossResponse, rttSeconds: number, lanes: number): number {
  const p = leg.lossRate;
  if (p <= 0) return Number.POSITIVE_INFINITY;
  if (response.holds === 'rate') return leg.rateBps * response.share(p);
  const segments = Math.max(response.segments(p, rttSeconds), SMALLEST_WINDOW_SEGMENTS);
  return (lanes * segments * SEGMENT_BYTES * 8) / rttSeconds;
}

/**
 * Whether losses hold each connection of this leg back: neither a paced line nor a measured rate says
 * anything of them.
 */
export function isHeldBackByLoss({ sender, connectionBps }: LegEstimate): boolean {
  return CONGESTION_CONTROLS[sender].response.holds === 'window' && connectionBps === undefined;
}

/** What decides how many round trips a download costs before its first byte. */
export interface SetUp {
  /** Whether client and entry depot (or origin, when direct) speak TLS. */
  readonly clientTls: boolean;
  /** Whether the origin speaks TLS. */
  readonly originTls: boolean;
}

/**
 * Seconds before the body starts, in cascade signalling. `rttsMs` are the legs' round-trip times from the
 * client on: client-D1, D1-D2, ..., Dk-origin; one leg means direct. Each leg costs its TCP handshake, TLS
 * one round trip of what it spans, the request one round trip of everything. The request, or TLS with the
 * origin, goes along with `CONNECT`.
 */
export function setUpSeconds(rttsMs: readonly number[], { clientTls, originTls }: SetUp): number {
  const total = rttsMs.reduce((sum, rttMs) => sum + rttMs, 0);
  return setUpRounds(total, rttsMs[0] ?? 0, rttsMs.length, { clientTls, originTls }) / 1000;
}

/** The same by the sum of all round trips and the client's, in their unit. */
function setUpRounds(
  total: number,
  clientLeg: number,
  legs: number,
  { clientTls, originTls }: SetUp,
): number {
  if (legs <= 1) return total * (originTls ? 3 : 2);
  return total + (clientTls ? clientLeg : 0) + (originTls ? total - clientLeg : 0) + total;
}

/**
 * Seconds until the last byte of `sizeBytes` is with the client: set-up, then the leg that is last, because
 * the legs work as a pipeline. A leg needs its own time, and the bytes half a round trip on each of the
 * others. None runs faster than line and windows of the others let it, nor than `capPerSecond` segments. All
 * legs but the client's have `lanes` connections.
 */
export function chainSeconds(
  legs: readonly LegEstimate[],
  sizeBytes: number,
  setUp: SetUp,
  lanes = 1,
  capPerSecond = Number.POSITIVE_INFINITY,
  constants: FittedConstants = FITTED,
): number {
  const shapes = legs.map((leg, index) => legShape(leg, index === 0 ? 1 : lanes, constants));
  return shapesSeconds(shapes, sizeBytes, setUp, lanes, capPerSecond);
}

/** {@link chainSeconds} of legs whose shapes with these lanes are known. */
export function shapesSeconds(
  shapes: readonly LegShape[],
  sizeBytes: number,
  setUp: SetUp,
  lanes: number,
  capPerSecond: number,
): number {
  let cap = capPerSecond;
  for (const shape of shapes) cap = Math.min(cap, shape.capPerSecond);
  let [total, last] = [0, Number.NEGATIVE_INFINITY];
  for (const shape of shapes) {
    total += shape.rttSeconds;
    last = Math.max(last, shapeSeconds(shape, sizeBytes, cap) - shape.rttSeconds / 2);
  }
  const clientLeg = shapes[0]?.rttSeconds ?? 0;
  const ready = setUpRounds(total, clientLeg, shapes.length, setUp);
  return ready + lanesSeconds(total - clientLeg, shapes.length, setUp, lanes) + last + total / 2;
}

/**
 * What it costs that all lanes but the first start late: only the first answer tells whether the origin has
 * ranges, so the others are set up after it, from the entry depot on, over round trips of `behind` seconds.
 * Meanwhile the first lane carries its share.
 */
function lanesSeconds(behind: number, legs: number, { originTls }: SetUp, lanes: number): number {
  if (lanes <= 1 || legs <= 1) return 0;
  return (1 - 1 / lanes) * setUpRounds(behind, 0, legs, { clientTls: false, originTls });
}
