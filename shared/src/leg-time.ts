/**
 * How long one leg of a chain needs for a file: start-up, then the rate that line, windows and losses leave.
 * Windows count in segments, times in seconds. Held against the committed transfers by
 * `e2e/lab/experiments/model-errors.test.ts`.
 *
 * - slow start: 10 segments, doubling each round trip (Cardwell, Savage, Anderson, INFOCOM 2000), up to the
 *   rate that the leg
 *   lets through, or to the first loss to be expected
 * - losses: the window decays from there to the steady one of congestion-controls.ts, lessened by time-outs
 *   (Padhye, Firoiu,
 *   Towsley, Kurose, SIGCOMM 1998). A file that ends before has met fewer losses than the steady state says.
 *
 * A leg that the rest of the chain lets carry more is never slower: the search for chains rests on that
 * (decision 36).
 */
import { CONGESTION_CONTROLS, type CongestionControl } from './congestion-controls.ts';
import { SEGMENT_BYTES } from './units.ts';

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
  /** What one connection was measured to carry, bits per second: it stands for what loss and windows do. */
  readonly connectionBps?: number;
}

/** Initial window of today's senders, in segments (RFC 6928). */
const INITIAL_WINDOW_SEGMENTS = 10;
/** Below this many segments no loss model holds; a sender keeps at least this window. */
const SMALLEST_WINDOW_SEGMENTS = 1;
/** Share of a window that a loss takes (RFC 9438; RFC 5681). */
const LOSS_TAKES = { cubic: 0.3, reno: 0.5 } as const;
/**
 * What a loss at the end of what is on its way costs: two round trips until it is probed for and one until
 * the answer (RFC 8985), and now and then Linux's least time-out.
 */
const LOST_TAIL = { rounds: 3, timeoutSeconds: 0.2 } as const;
/**
 * Slow start is left a round after the line is full (HyStart, or a loss in the queue): the window has doubled
 * by then.
 */
const OVERSHOOT = 2;
/** From here on e^x and its neighbours are as good as equal. */
const LARGE_EXPONENT = 30;

/** What of the model no source says: constants that measured transfers decide. */
export interface FittedConstants {
  /** Share of the losses at the end of what is on its way that a time-out mends. */
  readonly timeoutShare: number;
  /** Round trips that a loss in BBR's start costs it. */
  readonly roundsPerLossInStart: number;
}

/** The constants that plans are made with. */
export const FITTED: FittedConstants = { timeoutShare: 1 / 3, roundsPerLossInStart: 2 };

/** What a leg over so many connections can do, whatever the file and the other legs. */
export interface LegShape {
  readonly rttSeconds: number;
  /** What line and windows let through: the cap that it is for the whole chain. */
  readonly capPerSecond: number;
  /** The most that it carries, losses of a sender that holds its rate counted. */
  readonly mostPerSecond: number;
  readonly initialSegments: number;
  /** Where slow start meets its first loss. */
  readonly firstLossSegments: number;
  /** Of a sender whose window losses hold back. */
  readonly decay: Decay | undefined;
  /**
   * Losses in a round of slow start for each segment of the window, of which w ln 2 are sent; of a sender
   * that holds its rate.
   */
  readonly startLoss: number;
  /** Round trips that each of these costs. */
  readonly roundsPerLoss: number;
}

interface Decay {
  readonly steadySegments: number;
  readonly firstSegments: number;
  /** Share of the window that goes with each segment sent. */
  readonly perSegment: number;
}

/** What `lanes` connections over a leg can do: all of its time that does not depend on the file. */
export function legShape(leg: LegEstimate, lanes: number, constants: FittedConstants = FITTED): LegShape {
  const { rttMs, lossRate: p, rateBps, windowBytes, sender, connectionBps } = leg;
  const rttSeconds = Math.max(rttMs, 0.01) / 1000;
  const linePerSecond = segments(rateBps / 8);
  const initialSegments = lanes * INITIAL_WINDOW_SEGMENTS;
  const common = {
    rttSeconds,
    initialSegments,
    firstLossSegments: Number.POSITIVE_INFINITY,
    startLoss: 0,
    roundsPerLoss: constants.roundsPerLossInStart,
  };
  if (connectionBps !== undefined) {
    const perSecond = Math.min(linePerSecond, lanes * segments(connectionBps / 8));
    return { ...common, capPerSecond: perSecond, mostPerSecond: perSecond, decay: undefined };
  }
  const windowSegments = lanes * segments(windowBytes);
  const capPerSecond = Math.min(linePerSecond, windowSegments / rttSeconds);
  const { response } = CONGESTION_CONTROLS[sender];
  if (response.holds === 'rate' || p <= 0) {
    const share = response.holds === 'rate' && p > 0 ? response.share(p) : 1;
    const mostPerSecond = Math.min(linePerSecond * share, capPerSecond);
    const startLoss = response.holds === 'rate' ? (p * Math.LN2) / lanes : 0;
    return { ...common, capPerSecond, mostPerSecond, decay: undefined, startLoss };
  }
  const steadySegments = lanes * steadyWindow(response.segments(p, rttSeconds), p, rttSeconds, constants);
  const firstLossSegments = initialSegments + lanes / p;
  const firstSegments = Math.min(OVERSHOOT * linePerSecond * rttSeconds, windowSegments, firstLossSegments);
  const perSegment = (LOSS_TAKES[sender === 'reno' ? 'reno' : 'cubic'] * p) / lanes;
  const decay = { steadySegments, firstSegments, perSegment };
  return { ...common, capPerSecond, mostPerSecond: capPerSecond, firstLossSegments, decay };
}

function segments(bytes: number): number {
  return bytes / SEGMENT_BYTES;
}

/** The window that losses leave in the long run, time-outs counted. */
function steadyWindow(
  response: number,
  p: number,
  rttSeconds: number,
  { timeoutShare }: FittedConstants,
): number {
  const withoutTimeouts = Math.max(response, SMALLEST_WINDOW_SEGMENTS);
  const timeoutSeconds = LOST_TAIL.rounds * rttSeconds + timeoutShare * LOST_TAIL.timeoutSeconds;
  const timeouts = timeoutSeconds * Math.min(1, 3 * Math.sqrt((3 * p) / 8)) * p * (1 + 32 * p * p);
  return rttSeconds / (rttSeconds / withoutTimeouts + timeouts);
}

/**
 * Seconds from the first byte sent until `sizeBytes` have left the sender of one leg, slow start included.
 * `lanes` connections share the start-up: each begins with an initial window of its own. The rest of the
 * chain lets `capPerSecond` segments through.
 */
export function legSeconds(
  leg: LegEstimate,
  sizeBytes: number,
  lanes = 1,
  capPerSecond = Number.POSITIVE_INFINITY,
): number {
  return shapeSeconds(legShape(leg, lanes), sizeBytes, capPerSecond);
}

/**
 * Seconds that a leg of this shape needs for `sizeBytes` when the chain lets `capPerSecond` segments through.
 * A window w that doubles each round trip R sends at w ln 2 / R: slow start ends where that is the rate.
 */
export function shapeSeconds(shape: LegShape, sizeBytes: number, capPerSecond: number): number {
  const { rttSeconds, initialSegments, decay, startLoss, roundsPerLoss } = shape;
  const wanted = sizeBytes / SEGMENT_BYTES;
  const roundsPerWindow = rttSeconds / Math.LN2;
  const allSegments = initialSegments + wanted;
  const most = Math.min(capPerSecond, shape.mostPerSecond);
  const perSecond = decay ? most : Math.min(most, worthwhileWindow(shape, allSegments) / roundsPerWindow);
  const startSegments = Math.min(perSecond * roundsPerWindow, shape.firstLossSegments, allSegments);
  if (startSegments <= initialSegments) return afterStart(shape, wanted, perSecond);
  const repairs =
    startLoss > 0
      ? roundsPerLoss * Math.log2((1 + startLoss * startSegments) / (1 + startLoss * initialSegments))
      : 0;
  const start = (Math.log2(startSegments / initialSegments) + repairs) * rttSeconds;
  return start + afterStart(shape, allSegments - startSegments, perSecond);
}

/**
 * The window up to which slow start pays for a file that ends when `allSegments` have been sent: all of them,
 * or where repairs cost more rounds than the larger window saves, w (1 + (1 + r) q w) / (1 + q w) =
 * `allSegments` with r rounds for each loss.
 */
function worthwhileWindow(
  { initialSegments, startLoss: q, roundsPerLoss }: LegShape,
  allSegments: number,
): number {
  if (q <= 0) return allSegments;
  const linear = 1 - q * allSegments;
  const factor = 1 + roundsPerLoss;
  const window = (Math.sqrt(linear ** 2 + 4 * factor * q * allSegments) - linear) / (2 * factor * q);
  return Math.max(initialSegments, window);
}

function afterStart({ rttSeconds, decay }: LegShape, wanted: number, perSecond: number): number {
  const fullSegments = perSecond * rttSeconds;
  if (!decay || decay.steadySegments >= fullSegments) return wanted / perSecond;
  const { steadySegments: steady, firstSegments: first, perSegment } = decay;
  if (first <= steady) return (wanted * rttSeconds) / steady;
  const aboveFull =
    first > fullSegments
      ? Math.log((first ** 2 - steady ** 2) / (fullSegments ** 2 - steady ** 2)) / (2 * perSegment)
      : 0;
  if (wanted <= aboveFull) return wanted / perSecond;
  const from = Math.atanh(steady / Math.min(first, fullSegments));
  const scaled = perSegment * (wanted - aboveFull);
  const to =
    scaled > LARGE_EXPONENT
      ? Math.log(2 * Math.sinh(from)) + scaled
      : Math.asinh(Math.sinh(from) * Math.exp(scaled));
  return aboveFull / perSecond + (rttSeconds / (perSegment * steady)) * (to - from);
}
