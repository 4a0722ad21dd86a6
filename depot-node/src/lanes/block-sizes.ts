import { bytesPerMsOf, type ChainPromise } from '@longhaul/shared';
import { laneShares, nextBlockBytes } from './fast-law.ts';
import { needsLanes, oneLaneBps } from './lane-growth.ts';
import type { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';

/** Under plain control a block takes about so long: its request costs a round trip, a tenth of this on a far path. */
const PLAIN_BLOCK_MS = 1000;
/**
 * Asked ahead, lanes have so much more on the way than comes within one delay: what their rates swing by from
 * block to block.
 */
const READY_MS = 50;
/**
 * A lane alone has so much more asked for: as long as a leg of its way waits for what was lost, no answer
 * ends, and nothing more is asked for. Without it the origin falls idle, and what it then begins with
 * overflows the next queue.
 */
const STANDSTILL_MS = 300;
/**
 * Asked ahead, that is so many times `lanes.alphaBytes` at most: from some hundreds of Mbit/s on smaller
 * blocks would cost more than their bytes.
 */
const ALPHAS_AHEAD = 3;
/** Over one chain a fast lane has at most so many times the mean on the way: it has the line that others do not get. */
const MOST_OF_MEAN = 1.5;
/** The buffer for lanes of unlike speed holds twice what comes in one delay of the slowest (RFC 6182 section 5.3). */
const DELAYS_BUFFERED = 2;

/** From so many blocks before its end on, a lane's blocks are cut to fit what is left. */
const NEAR_THE_END_BLOCKS = 3;

interface SizedLane {
  readonly index: number;
  /** What it fetches at once, as the law says. */
  readonly loadBytes: number;
  /** Blocks that it may be asked for at once. */
  readonly mostQuestions: number;
  /** Of its next block: the same, or a part of it where it is asked ahead. */
  readonly sizeBytes: number;
  readonly meter: LaneMeter;
}

/** What a lane fetches at once at first; a lane that is tried again begins with the least. */
export function firstLoadBytes(config: LanesConfig, laneCount: number): number {
  const evenBytes = Math.floor(config.alphaBytes / laneCount);
  return Math.max(config.leastBlockBytes, Math.min(config.firstBlockBytes, evenBytes));
}

/** Until what is asked for after the first answer comes, on a far path. */
const FIRST_ROUND_MS = 100;

/**
 * The block that is asked for before anything is known of the origin: more where one lane is to fill the line
 * alone.
 */
export function firstBlockBytes(promise: ChainPromise | undefined, config: LanesConfig): number {
  if (!promise || needsLanes(promise)) return config.firstBlockBytes;
  return aloneLoadBytes(promise, FIRST_ROUND_MS - READY_MS, config);
}

/**
 * What a lane alone fetches at once at first: what its chain brings while it asks for more, so that its questions never
 * hold its connection back. `delayMs` is that of its first answer.
 */
export function aloneLoadBytes({ rateBps }: ChainPromise, delayMs: number, config: LanesConfig): number {
  return Math.max(config.firstBlockBytes, Math.floor(aloneBytes(bytesPerMsOf(rateBps), delayMs, config)));
}

/** While a connection finds its rate it brings about so much of what it brings later. */
const PART_AT_START = 0.5;

/**
 * What a lane that begins before the others is asked for at once: what it brings until their first bytes
 * come, `delayMs` later, so that its questions do not hold it back meanwhile. No more than may be held: a
 * promise says nothing of what is true, and an origin may be slow.
 */
export function headStartBytes(promise: ChainPromise, delayMs: number, config: LanesConfig): number {
  const bytes = PART_AT_START * bytesPerMsOf(oneLaneBps(promise)) * delayMs;
  return Math.floor(Math.min(bytes, mostLoadBytes(config)));
}

/** What a lane is asked for at once at most, so that what comes in two delays fits into the buffer. */
function mostLoadBytes({ bufferBytes }: LanesConfig): number {
  return bufferBytes / DELAYS_BUFFERED;
}

function aloneBytes(bytesPerMs: number, delayMs: number, config: LanesConfig): number {
  return Math.min(bytesPerMs * (delayMs + READY_MS + STANDSTILL_MS), mostLoadBytes(config));
}

/**
 * What a lane fetches at once after a block has come; `lanes` are those in service, this one among them.
 * `promise` is that of the chain that all of them go over.
 */
export function adaptedLoadBytes(
  lane: SizedLane,
  lanes: readonly SizedLane[],
  config: LanesConfig,
  promise?: ChainPromise,
): number {
  const { bytesPerMs, leastDelayMs } = lane.meter;
  if (bytesPerMs === undefined || leastDelayMs === undefined) return lane.loadBytes;
  const wanted = { loadBytes: lane.loadBytes, bytesPerMs, leastDelayMs };
  const loadBytes =
    lane.mostQuestions > 1
      ? loadAhead(lane, wanted, lanes, config, promise)
      : config.control === 'coupled'
        ? nextBlockBytes({ ...wanted, share: shareOf(lane, lanes, config) }, config)
        : Math.min(bytesPerMs * PLAIN_BLOCK_MS, config.alphaBytes / lanes.length);
  return Math.max(config.leastBlockBytes, Math.floor(loadBytes));
}

/**
 * The same where the next blocks are asked for while one comes: as much as all lanes bring within the delay
 * of an answer and a little more, so that none of them rests. Under plain control each has the same part of
 * it, which also keeps a fast lane from taking the line from the others.
 */
function loadAhead(
  lane: SizedLane,
  { bytesPerMs, leastDelayMs }: { readonly bytesPerMs: number; readonly leastDelayMs: number },
  lanes: readonly SizedLane[],
  config: LanesConfig,
  promise: ChainPromise | undefined,
): number {
  const sum = sumOfRates(bytesPerMs, lanes, promise);
  const mostBytes = Math.min(ALPHAS_AHEAD * config.alphaBytes, mostLoadBytes(config));
  const alphaBytes = Math.min(mostBytes, sum * READY_MS);
  // A lane's first answer also waited for its connection; over the same chain the least of all is nearest to the truth.
  const delayMs = config.spread
    ? leastDelayMs
    : Math.min(...lanes.map(({ meter }) => meter.leastDelayMs ?? leastDelayMs));
  // What a standstill has made its rate seem is no reason to ask for less.
  if (lanes.length === 1) return Math.max(lane.loadBytes, aloneBytes(sum, delayMs, config));
  const meanBytes = (sum * delayMs + alphaBytes) / lanes.length;
  if (config.control === 'plain') return Math.min(2 * lane.loadBytes, meanBytes);
  const load = { loadBytes: lane.loadBytes, bytesPerMs, leastDelayMs: delayMs };
  const share = shareOf(lane, lanes, config);
  const byLaw = nextBlockBytes({ ...load, share }, { ...config, alphaBytes });
  // Over ways of their own fast lanes take nothing from slow ones.
  return config.spread ? byLaw : Math.min(MOST_OF_MEAN * meanBytes, byLaw);
}

/**
 * What all lanes bring. One that has shown nothing counts as much as this one, but all of those together for
 * no more than is left of the promise: a lane that began alone has the whole line, which it then shares.
 */
function sumOfRates(
  bytesPerMs: number,
  lanes: readonly SizedLane[],
  promise: ChainPromise | undefined,
): number {
  const known = lanes.flatMap(({ meter }) => meter.bytesPerMs ?? []);
  const sum = known.reduce((total, rate) => total + rate, 0);
  const left = promise ? Math.max(0, bytesPerMsOf(promise.rateBps) - sum) : Number.POSITIVE_INFINITY;
  return sum + Math.min(left, (lanes.length - known.length) * bytesPerMs);
}

interface BusyLane extends SizedLane {
  /** Until it is free. */
  readonly busyMs: number;
}

/**
 * Size of the block to ask for now: what the law says, evened out so that this lane's last block is no scrap and all
 * lanes end together. One lane alone asks for as much as one request is worth; while others are away, for no longer
 * than until they are tried again.
 */
export function cutBytes(
  lane: BusyLane,
  lanes: readonly BusyLane[],
  uncutBytes: number,
  isAloneForGood: boolean,
  config: LanesConfig,
): number {
  const { sizeBytes, meter } = lane;
  if (lanes.length === 1) {
    const untilRetryBytes = Math.max(sizeBytes, (meter.bytesPerMs ?? 0) * config.retrySeconds * 1000);
    return Math.floor(
      isAloneForGood ? config.soloBlockBytes : Math.min(config.soloBlockBytes, untilRetryBytes),
    );
  }
  const ownBytes = portionBytes(lane, lanes, uncutBytes);
  const blocks = Math.max(1, Math.round(ownBytes / sizeBytes));
  // Far from the end it is the law's size, with as much again or less at the end.
  const evenBytes = blocks < NEAR_THE_END_BLOCKS ? ownBytes / blocks : sizeBytes;
  return Math.max(config.leastBlockBytes, Math.floor(Math.min(evenBytes, config.bufferBytes / lanes.length)));
}

/**
 * What of the rest is this lane's when all lanes are to end at one time t: each brings x (t - its busy time), together
 * they bring the rest.
 */
function portionBytes(lane: BusyLane, lanes: readonly BusyLane[], uncutBytes: number): number {
  const known = lanes.flatMap(({ meter: { bytesPerMs } }) => bytesPerMs ?? []);
  if (known.length === 0) return uncutBytes / lanes.length;
  const mean = known.reduce((sum, rate) => sum + rate, 0) / known.length;
  let broughtBytes = uncutBytes;
  let bytesPerMs = 0;
  const soonest = lanes.map(({ busyMs, meter }) => ({ busyMs, rate: meter.bytesPerMs ?? mean }));
  for (const { busyMs, rate } of soonest.toSorted((one, other) => one.busyMs - other.busyMs)) {
    // One that is free only after the others have ended takes no part.
    if (bytesPerMs > 0 && busyMs >= broughtBytes / bytesPerMs) break;
    broughtBytes += rate * busyMs;
    bytesPerMs += rate;
  }
  return (lane.meter.bytesPerMs ?? mean) * (broughtBytes / bytesPerMs);
}

/**
 * How far ahead of the first missing byte blocks are asked for: twice what all lanes bring in the longest
 * delay of one, at least twice what each lane fetches at once, at most `bufferBytes`. Plain control never
 * waits before that; nor does the other while the first block is late.
 */
export function windowBytes(lanes: readonly SizedLane[], isHeadLate: boolean, config: LanesConfig): number {
  if (config.control === 'plain' || isHeadLate) return config.bufferBytes;
  const sum = lanes.reduce((total, { meter }) => total + (meter.bytesPerMs ?? 0), 0);
  const longestMs = Math.max(0, ...lanes.map(({ meter }) => meter.leastDelayMs ?? 0));
  const loadBytes = lanes.reduce((total, lane) => total + lane.loadBytes, 0);
  return Math.min(config.bufferBytes, Math.max(DELAYS_BUFFERED * sum * longestMs, 2 * loadBytes));
}

function shareOf(lane: SizedLane, lanes: readonly SizedLane[], { minShare }: LanesConfig): number {
  const shares = laneShares(
    lanes.map(({ meter }) => meter.bytesPerMs),
    minShare,
  );
  return shares[lanes.findIndex(({ index }) => index === lane.index)] ?? 1 / lanes.length;
}
