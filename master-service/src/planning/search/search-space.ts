import { CLIENT, type EndName, SEGMENT_BYTES, shapeSeconds } from '@longhaul/shared';
import type { OverlayGraph } from './overlay-graph.ts';
import type { OverlayLeg } from './overlay-leg.ts';

/** What chains are sought for. */
export interface ChainQuestion {
  readonly maxDepots: number;
  readonly sizeBytes: number;
  readonly originTls: boolean;
  /** Numbers of lanes to choose from, ascending. */
  readonly laneChoices: readonly number[];
  /** How often each depot of a chain fails, where that costs everything that has come; 0 where it does not. */
  readonly depotBreaksPerSecond: number;
}

/** A depot that chains may pass, with its legs to both ends where they are known. */
export interface SearchDepot {
  readonly id: string;
  readonly tls: boolean;
  readonly client: OverlayLeg | undefined;
  readonly origin: OverlayLeg | undefined;
  /** What its line leaves to one more download, bits per second; left out where nobody knows. */
  readonly roomBps?: number | undefined;
}

/** Of every chain that goes on from a depot over so many more depots at most. By depot. */
interface Level {
  /** The least sum of round trips to the origin, and the least that the longest of them can be. */
  readonly rounds: Float64Array;
  readonly longest: Float64Array;
  readonly leastRounds: number;
  /**
   * The depots for which it is less than over one depot fewer, and their least sum: whoever comes before them
   * may have less, too.
   */
  readonly isLess: Uint8Array;
  readonly leastOfLess: number;
}

/** What one number of lanes means for a chain. */
export interface LaneTerms {
  readonly lanes: number;
  /**
   * Seconds for each second of a leg's round trip behind the entry depot: set-up, start of the lanes, half of
   * it on the way.
   */
  readonly perRound: number;
  /** What the best leg to the origin lets through, segments per second. */
  readonly cap: number;
  /** When each depot's leg to the origin is done at the earliest, less half its round trip; and the least of them. */
  readonly originOwn: Float64Array;
  readonly leastOrigin: number;
}

/** Initial window of a connection, in segments (RFC 6928). */
export const INITIAL_SEGMENTS = 10;
/** Of a client's leg: two round trips of set-up, and half of one on the way; one more where its depot speaks TLS. */
const CLIENT_ROUNDS = 2.5;

/**
 * All that a search has to know of one download: the depots by number, the ends of their chains, and for the
 * way to the origin bounds that no chain is below.
 */
export class SearchSpace {
  readonly graph: OverlayGraph;
  readonly question: ChainQuestion;
  readonly wantedSegments: number;
  /** The depots that chains may pass, and those of them that clients are known to reach. */
  readonly numbers: Int32Array;
  readonly entries: readonly number[];
  readonly isUsable: Uint8Array;
  readonly client: readonly (OverlayLeg | undefined)[];
  readonly origin: readonly (OverlayLeg | undefined)[];
  /** Seconds of the client's leg alone, less half its round trip. */
  readonly clientOwn: Float64Array;
  /** What the client's leg and the entry depot's line let through, segments per second. */
  readonly entryCap: Float64Array;
  readonly roomPerSecond: Float64Array;
  readonly lanes: readonly LaneTerms[];
  readonly #tls: Uint8Array;
  /** How many depots come before one, at least; only what a chain can reach has to be known. */
  readonly #before: Uint8Array;
  readonly #levels: Level[] = [];

  constructor(graph: OverlayGraph, depots: readonly SearchDepot[], question: ChainQuestion) {
    this.graph = graph;
    this.question = question;
    this.wantedSegments = question.sizeBytes / SEGMENT_BYTES;
    this.numbers = new Int32Array(depots.length);
    for (let index = 0; index < depots.length; index += 1)
      this.numbers[index] = graph.numberOf(depots[index]?.id ?? '');
    const { size } = graph;
    this.isUsable = new Uint8Array(size);
    this.#tls = new Uint8Array(size);
    this.roomPerSecond = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
    const [client, origin] = [noLegs(size), noLegs(size)];
    for (const [index, depot] of depots.entries()) {
      const number = this.numbers[index] ?? 0;
      this.isUsable[number] = 1;
      this.#tls[number] = depot.tls ? 1 : 0;
      client[number] = depot.client;
      origin[number] = depot.origin;
      if (depot.roomBps !== undefined) this.roomPerSecond[number] = depot.roomBps / 8 / SEGMENT_BYTES;
    }
    this.client = client;
    this.origin = origin;
    this.entries = Array.from(this.numbers).filter((number) => client[number]);
    this.clientOwn = new Float64Array(size);
    this.entryCap = new Float64Array(size);
    for (const number of this.entries) {
      const shape = client[number]?.shape(1);
      if (!shape) continue;
      this.clientOwn[number] =
        shapeSeconds(shape, question.sizeBytes, Number.POSITIVE_INFINITY) - shape.rttSeconds / 2;
      this.entryCap[number] = Math.min(shape.capPerSecond, this.roomPerSecond[number] ?? 0);
    }
    this.lanes = question.laneChoices.map((lanes) => this.#termsOf(lanes));
    this.#before = this.#depotsBefore();
    for (let more = 0; more < question.maxDepots; more += 1) this.#levels.push(this.#levelOf(more));
  }

  /** The depots that known links lead to from the client, or from the origin, over depots that chains may pass. */
  reached(from: EndName): ReadonlySet<string> {
    const legs = from === CLIENT ? this.client : this.origin;
    const open = Array.from(this.numbers).filter((number) => legs[number]);
    const found = new Set(open);
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      const { ends, count } = this.graph.row(number);
      for (const end of ends.subarray(0, count)) {
        if (this.isUsable[end] === 0 || found.has(end)) continue;
        found.add(end);
        open.push(end);
      }
    }
    return new Set(Array.from(found, (number) => this.graph.idOf(number)));
  }

  isTls(number: number): boolean {
    return this.#tls[number] === 1;
  }

  /** What the depots of a chain leave to it, segments per second. */
  roomOf(numbers: Int32Array): number {
    let room = Number.POSITIVE_INFINITY;
    for (const number of numbers) room = Math.min(room, this.roomPerSecond[number] ?? 0);
    return room;
  }

  /** Seconds that the client's leg costs by its round trip. */
  clientPassing(entry: number): number {
    const rounds = CLIENT_ROUNDS + (this.#tls[entry] ?? 0);
    return rounds * (this.client[entry]?.rttSeconds ?? 0);
  }

  level(more: number): Level {
    return this.#levels[more] ?? NO_LEVEL;
  }

  #termsOf(lanes: number): LaneTerms {
    const { originTls, sizeBytes } = this.question;
    const setUp = originTls ? 3 : 2;
    const perRound = setUp + (1 - 1 / lanes) * setUp + 0.5;
    let cap = 0;
    let leastOrigin = Number.POSITIVE_INFINITY;
    const originOwn = new Float64Array(this.graph.size);
    for (const number of this.numbers) {
      const shape = this.origin[number]?.shape(lanes);
      if (!shape) continue;
      cap = Math.max(cap, shape.capPerSecond);
      const own = shapeSeconds(shape, sizeBytes, Number.POSITIVE_INFINITY) - shape.rttSeconds / 2;
      originOwn[number] = own;
      leastOrigin = Math.min(leastOrigin, own);
    }
    return { lanes, perRound, cap, originOwn, leastOrigin };
  }

  #depotsBefore(): Uint8Array {
    const before = new Uint8Array(this.graph.size).fill(FAR);
    let reached = this.entries;
    for (const number of reached) before[number] = 0;
    for (let depots = 1; depots < this.question.maxDepots && reached.length > 0; depots += 1) {
      const next: number[] = [];
      for (const number of reached) {
        const { ends, count } = this.graph.row(number);
        for (let index = 0; index < count; index += 1) {
          const end = ends[index] ?? 0;
          if (before[end] !== FAR || this.isUsable[end] === 0) continue;
          before[end] = depots;
          next.push(end);
        }
      }
      reached = next;
    }
    return before;
  }

  #levelOf(more: number): Level {
    const { size } = this.graph;
    if (more === 0) {
      const rounds = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
      const isLess = new Uint8Array(size);
      for (const number of this.numbers) {
        const leg = this.origin[number];
        if (!leg) continue;
        rounds[number] = leg.rttSeconds;
        isLess[number] = 1;
      }
      const leastRounds = leastOf(rounds);
      return { rounds, longest: rounds, leastRounds, isLess, leastOfLess: leastRounds };
    }
    const below = this.level(more - 1);
    // Over one depot more nobody could gain: nor can they over two.
    if (below.leastOfLess === Number.POSITIVE_INFINITY) return below;
    const [rounds, longest] = [below.rounds.slice(), below.longest.slice()];
    const isLess = new Uint8Array(size);
    let leastOfLess = Number.POSITIVE_INFINITY;
    const most = this.question.maxDepots - 1 - more;
    const { isUsable } = this;
    for (const number of this.numbers) {
      if ((this.#before[number] ?? FAR) > most) continue;
      const { ends, rttSeconds, count } = this.graph.row(number);
      let sum = rounds[number] ?? 0;
      let long = longest[number] ?? 0;
      for (let index = 0; index < count; index += 1) {
        const rtt = rttSeconds[index] ?? 0;
        if (rtt >= long && rtt + below.leastOfLess >= sum) break;
        const end = ends[index] ?? 0;
        // Over the others it was as much with one depot fewer.
        if (below.isLess[end] === 0 || isUsable[end] === 0) continue;
        sum = Math.min(sum, rtt + (below.rounds[end] ?? 0));
        long = Math.min(long, Math.max(rtt, below.longest[end] ?? 0));
      }
      if (sum === rounds[number] && long === longest[number]) continue;
      rounds[number] = sum;
      longest[number] = long;
      isLess[number] = 1;
      leastOfLess = Math.min(leastOfLess, sum);
    }
    return { rounds, longest, leastRounds: Math.min(below.leastRounds, leastOfLess), isLess, leastOfLess };
  }
}

/** More depots than a chain has. */
const FAR = 255;
const NO_LEVEL: Level = {
  rounds: new Float64Array(),
  longest: new Float64Array(),
  leastRounds: Number.POSITIVE_INFINITY,
  isLess: new Uint8Array(),
  leastOfLess: Number.POSITIVE_INFINITY,
};

function noLegs(size: number): (OverlayLeg | undefined)[] {
  return Array.from<OverlayLeg | undefined>({ length: size });
}

function leastOf(numbers: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (const one of numbers) if (one < least) least = one;
  return least;
}
