import { type EndName, MAX_CHAIN_DEPOTS, secondsWithBreaks, shapeSeconds } from '@longhaul/shared';
import { AS_GOOD_AS_BEST } from './choose-lanes.ts';
import { losslessSeconds } from './lossless-seconds.ts';
import type { OverlayLeg } from './overlay-leg.ts';
import { PartialChains } from './partial-chains.ts';
import type { ChainWish, RatedChain } from './rated-chain.ts';
import { INITIAL_SEGMENTS, type SearchSpace } from './search-space.ts';

interface FoundChain {
  readonly numbers: Int32Array;
  readonly legs: readonly OverlayLeg[];
  readonly lanes: number;
  readonly seconds: number;
}

const INFINITE = Number.POSITIVE_INFINITY;
/** Sums of the same numbers in another order differ by less. */
const ROUNDING = 1 + 1e-12;
/**
 * From such a multiple of the initial window on, the time of a longer leg is larger, also less half a round
 * trip and the slack of decay.
 */
const GROWS_FROM = 1.5;
/**
 * A leg whose window decays may be faster than one without losses by so many round trips: from its first loss
 * on it sends at w / R, in slow start at w ln 2 / R. 1 / ln 2 - 1 - log2(1 / ln 2), and no more.
 */
const DECAY_SLACK_ROUNDS = 0.0862;
/**
 * The search looks for chains within so many times what the best way costs by its round trips, and for more
 * where these are too few: what is too slow is not even noted.
 */
const SLACKS: readonly number[] = [0.02, 0.06, 0.15, 0.3, 0.6, 1.2, 3, 10, INFINITE];
/**
 * Chains that a search begins at most, far more than any overlay has asked for: some milliseconds. Then the
 * best ones so far count.
 */
const MOST_BEGUN = 100_000;

/**
 * Searches run one after the other, each to its end: one room for chains that have begun serves all, and need
 * not be made and cleared away each time.
 */
const PARTIAL_CHAINS = new PartialChains();

/** The chains of one space, the fastest first: exact, by decision 36. */
export class ChainSearch {
  readonly #space: SearchSpace;
  readonly #partial = PARTIAL_CHAINS;
  readonly #chain = new Int32Array(MAX_CHAIN_DEPOTS);
  /** The legs of the chain that is looked at, from the client on, where each is known. */
  readonly #legs: (OverlayLeg | undefined)[] = Array.from({ length: MAX_CHAIN_DEPOTS + 1 });
  readonly #reached: { client?: ReadonlySet<string>; origin?: ReadonlySet<string> } = {};
  // What follows is of one run.
  #wish: ChainWish = {};
  #isUsable: Uint8Array = new Uint8Array();
  #most = 0;
  /** No chain that takes so long is wanted. */
  #limit = 0;
  #guess = 0;
  #top: FoundChain[] = [];
  #entry: number | undefined;
  #otherEntry: number | undefined;
  /** By number of lanes: no chain that begins with an entry depot takes less, in the order of the space's entries. */
  #entryBounds: Float64Array[] = [];
  // What follows is of the number of lanes that is looked at.
  #lane = 0;
  #lanes = 1;
  #perRound = 0;
  #initialSegments = 0;
  #begun = 0;

  constructor(space: SearchSpace) {
    this.#space = space;
  }

  /** Whether known links lead from an end over depots that chains may pass to this one. */
  readonly isReached = (from: EndName, id: string): boolean => {
    const reached = this.#reached[from] ?? this.#space.reached(from);
    this.#reached[from] = reached;
    return reached.has(id);
  };

  /** Chains that the last search has begun. */
  get begun(): number {
    return this.#begun;
  }

  /** The `most` fastest chains that are as wished, each with its best number of lanes. */
  best(most: number, wish: ChainWish = {}): RatedChain[] {
    const { graph } = this.#space;
    this.#wish = wish;
    this.#most = most;
    this.#isUsable = this.#usablePast(wish.without ?? []);
    this.#top = [];
    this.#begun = 0;
    this.#entry = wish.entry === undefined ? undefined : graph.numberOf(wish.entry);
    this.#otherEntry = wish.otherEntry === undefined ? undefined : graph.numberOf(wish.otherEntry);
    this.#entryBounds = [];
    const lanes = this.#space.lanes
      .map((_, lane) => ({ lane, ...this.#leastOver(lane) }))
      .filter(({ seconds }) => seconds < INFINITE)
      .toSorted((one, other) => one.seconds - other.seconds);
    const [first] = lanes;
    if (!first || this.#space.question.maxDepots < 1) return [];
    for (const slack of SLACKS) {
      const isLast = slack === INFINITE || this.#begun > MOST_BEGUN;
      this.#guess = isLast ? INFINITE : first.seconds + slack * first.passing;
      this.#limitByTop();
      for (const { lane, seconds } of lanes) if (seconds < this.#limit) this.#searchOver(lane);
      const worst = this.#top[most - 1];
      if (isLast || (worst && worst.seconds < this.#guess)) break;
    }
    return this.#top.map(({ numbers, legs, lanes: count, seconds }) => ({
      chain: Array.from(numbers, (number) => this.#space.graph.idOf(number)),
      legs: legs.map(({ leg }) => leg),
      links: legs.map(({ link }) => link),
      parts: legs,
      clientTls: this.#space.isTls(numbers[0] ?? 0),
      roomPerSecond: this.#space.roomOf(numbers),
      lanes: count,
      seconds,
    }));
  }

  #usablePast(without: readonly string[]): Uint8Array {
    const { isUsable, graph } = this.#space;
    if (without.length === 0) return isUsable;
    const left = isUsable.slice();
    for (const id of without) left[graph.numberOf(id)] = 0;
    return left;
  }

  /** What no chain with these lanes is below, and the part of it that round trips are. */
  #leastOver(lane: number): { readonly seconds: number; readonly passing: number } {
    const space = this.#space;
    const { lanes = 1, perRound = 0, leastOrigin = 0 } = space.lanes[lane] ?? {};
    const level = space.level(space.question.maxDepots - 1);
    let [seconds, passing] = [INFINITE, 0];
    if (this.#wish.lanes !== undefined && this.#wish.lanes !== lanes) return { seconds, passing };
    for (const entry of space.entries) {
      if (!this.#isEntry(entry)) continue;
      const cost = space.clientPassing(entry) + perRound * (level.rounds[entry] ?? 0);
      const bound = this.#withBreaks(cost + Math.max(space.clientOwn[entry] ?? 0, leastOrigin), 1);
      if (bound < seconds) [seconds, passing] = [bound, cost];
    }
    return { seconds, passing };
  }

  #isEntry(number: number): boolean {
    if (this.#isUsable[number] === 0 || number === this.#otherEntry) return false;
    return this.#entry === undefined || number === this.#entry;
  }

  /** Takes up what has the least bound again and again, until no bound is below the limit. */
  #searchOver(lane: number): void {
    const space = this.#space;
    const { maxDepots } = space.question;
    const { lanes = 1, perRound = 0 } = space.lanes[lane] ?? {};
    const partial = this.#partial;
    this.#lane = lane;
    this.#lanes = lanes;
    this.#perRound = perRound;
    this.#initialSegments = INITIAL_SEGMENTS * lanes;
    partial.clear();
    const bounds = this.#entryBounds[lane] ?? this.#boundEntries(lane);
    this.#entryBounds[lane] = bounds;
    for (let index = 0; index < bounds.length; index += 1)
      if ((bounds[index] ?? 0) < this.#limit) this.#begin(space.entries[index] ?? 0, bounds[index] ?? 0);
    for (let at = partial.take(this.#limit); at >= 0; at = partial.take(this.#limit)) {
      const depots = partial.depots[at] ?? 0;
      for (let place = depots - 1, one = at; place >= 0; place -= 1, one = partial.before[one] ?? 0)
        this.#chain[place] = partial.depot[one] ?? 0;
      this.#complete(at, depots);
      if (depots < maxDepots && partial.count < MOST_BEGUN) this.#extend(at, depots);
    }
    this.#begun += partial.count;
  }

  #boundEntries(lane: number): Float64Array {
    const space = this.#space;
    const more = space.question.maxDepots - 1;
    const bounds = new Float64Array(space.entries.length).fill(INFINITE);
    const most = space.lanes[lane]?.cap ?? 0;
    for (let index = 0; index < bounds.length; index += 1) {
      const entry = space.entries[index] ?? 0;
      if (!this.#isEntry(entry)) continue;
      const cap = Math.min(most, space.entryCap[entry] ?? 0);
      const bound = this.#bound(more, entry, space.clientPassing(entry), cap, this.#entryLatest(entry, cap));
      bounds[index] = this.#withBreaks(bound, 1);
    }
    return bounds;
  }

  /** When the client's leg is done at this cap, and the best leg to the origin at any, less half its round trip. */
  #entryLatest(entry: number, cap: number): number {
    const space = this.#space;
    const rtt = space.client[entry]?.rttSeconds ?? 0;
    const held = losslessSeconds(rtt, cap, INITIAL_SEGMENTS, space.wantedSegments);
    return Math.max(space.clientOwn[entry] ?? 0, held, space.lanes[this.#lane]?.leastOrigin ?? 0);
  }

  #begin(entry: number, bound: number): void {
    const space = this.#space;
    const cap = Math.min(space.lanes[this.#lane]?.cap ?? 0, space.entryCap[entry] ?? 0);
    const latest = this.#entryLatest(entry, cap);
    this.#partial.add(
      -1,
      entry,
      1,
      -1,
      space.clientPassing(entry),
      cap,
      INFINITE,
      0,
      -INFINITE,
      latest,
      bound,
    );
  }

  /** Rates the chain whose last depot asks the origin, if it can be one of the best. */
  #complete(at: number, depots: number): void {
    const space = this.#space;
    const last = this.#partial.depot[at] ?? 0;
    const leg = space.origin[last];
    if (!leg || depots < (this.#wish.minDepots ?? 1)) return;
    const late = Math.max(space.lanes[this.#lane]?.originOwn[last] ?? 0, this.#partial.latest[at] ?? 0);
    const bound = (this.#partial.passing[at] ?? 0) + this.#perRound * leg.rttSeconds + late;
    if (this.#withBreaks(bound, depots) < this.#limit) this.#rate(at, depots);
  }

  /** Notes the chains with one depot more whose bound is below the limit. */
  #extend(at: number, depots: number): void {
    const space = this.#space;
    const { sizeBytes, maxDepots } = space.question;
    const perRound = this.#perRound;
    const lanes = this.#lanes;
    const initial = this.#initialSegments;
    const partial = this.#partial;
    const passing = partial.passing[at] ?? 0;
    const cap = partial.cap[at] ?? 0;
    const latest = partial.latest[at] ?? 0;
    const more = maxDepots - depots - 1;
    const { rounds, leastRounds } = space.level(more);
    const { ends, rttSeconds, legs, count } = space.graph.row(partial.depot[at] ?? 0);
    const { wantedSegments, roomPerSecond } = space;
    const isUsable = this.#isUsable;
    const shortestBefore = partial.shortest[at] ?? 0;
    const longestBefore = partial.longest[at] ?? 0;
    const lossyBefore = partial.lossy[at] ?? 0;
    const limit = this.#withoutBreaks(this.#limit, depots + 1);
    const left = (limit - passing - latest) / perRound;
    const entry = this.#chain[0] ?? 0;
    const second = depots > 1 ? this.#chain[1] : -1;
    const third = depots > 2 ? this.#chain[2] : -1;
    const clientRtt = space.client[entry]?.rttSeconds ?? 0;
    for (let index = 0; index < count; index += 1) {
      const rtt = rttSeconds[index] ?? 0;
      // The legs come by their round trips: behind this one none is better.
      if (rtt + leastRounds >= left) break;
      const end = ends[index] ?? 0;
      if (rtt + (rounds[end] ?? 0) >= left) continue;
      if (isUsable[end] === 0 || end === entry || end === second || end === third) continue;
      const shape = legs[index]?.shape(lanes);
      if (!shape) continue;
      const through = Math.min(cap, shape.capPerSecond, roomPerSecond[end] ?? 0);
      let shortest = shortestBefore;
      let longest = longestBefore;
      if (shape.decay === undefined) {
        if (rtt < shortest) shortest = rtt;
        if (rtt > longest) longest = rtt;
      }
      const added = passing + perRound * rtt;
      const onward = added + perRound * (rounds[end] ?? 0);
      let late = latest;
      // Most are too late by one of these already, and each costs a logarithm.
      if (longest > 0) late = Math.max(late, losslessSeconds(longest, through, initial, wantedSegments));
      if (onward + late >= limit) continue;
      if (through < cap)
        late = Math.max(late, losslessSeconds(clientRtt, through, INITIAL_SEGMENTS, wantedSegments));
      if (shortest < longest)
        late = Math.max(late, losslessSeconds(shortest, through, initial, wantedSegments));
      if (onward + late >= limit) continue;
      const last = Math.max(late, this.#leastOfRest(more, end, through));
      if (onward + last >= limit) continue;
      // What losses cost takes the longest to work out.
      let lossy = lossyBefore;
      if (shape.decay !== undefined || shape.startLoss > 0)
        lossy = Math.max(lossy, shapeSeconds(shape, sizeBytes, INFINITE) - shape.rttSeconds / 2);
      const bound = onward + Math.max(last, lossy);
      if (bound >= limit) continue;
      late = Math.max(late, lossy);
      const waits = this.#withBreaks(bound, depots + 1);
      partial.add(at, end, depots + 1, index, added, through, shortest, longest, lossy, late, waits);
    }
  }

  /**
   * What no chain takes less than that goes on from `depot` over `more` depots at most: what adds up on the
   * shortest way, and the latest of the legs so far, the longest leg to come, and the best leg to the origin.
   */
  #bound(more: number, depot: number, passing: number, cap: number, latest: number): number {
    const { rounds } = this.#space.level(more);
    return (
      passing + this.#perRound * (rounds[depot] ?? 0) + Math.max(latest, this.#leastOfRest(more, depot, cap))
    );
  }

  /** When the longest leg to come is done at the earliest. */
  #leastOfRest(more: number, depot: number, cap: number): number {
    const space = this.#space;
    const rtt = space.level(more).longest[depot] ?? 0;
    const initial = this.#initialSegments;
    if ((cap * rtt) / Math.LN2 < GROWS_FROM * initial || space.wantedSegments < initial) return -INFINITE;
    return losslessSeconds(rtt, cap, initial, space.wantedSegments) - DECAY_SLACK_ROUNDS * rtt;
  }

  #withBreaks(seconds: number, depots: number): number {
    return secondsWithBreaks(seconds, depots * this.#space.question.depotBreaksPerSecond);
  }

  #withoutBreaks(seconds: number, depots: number): number {
    const perSecond = depots * this.#space.question.depotBreaksPerSecond;
    return perSecond > 0 ? Math.log1p(seconds * perSecond) / perSecond : seconds;
  }

  #rate(at: number, depots: number): void {
    if (this.#top.some(({ numbers }) => this.#isSame(numbers, depots))) return;
    this.#gatherLegs(at, depots);
    // With other lanes it is found when these are looked at.
    const now = this.#secondsOf(depots, this.#lanes, this.#perRound);
    if (this.#withBreaks(now, depots) >= this.#limit) return;
    const times = this.#space.lanes.map(({ lanes, perRound }) => {
      if (lanes === this.#lanes) return now;
      const isWanted = this.#wish.lanes === undefined || this.#wish.lanes === lanes;
      return isWanted ? this.#secondsOf(depots, lanes, perRound) : INFINITE;
    });
    const best = Math.min(...times);
    const lane = times.findIndex((time) => time <= best * AS_GOOD_AS_BEST);
    const seconds = this.#withBreaks(times[lane] ?? 0, depots);
    if (seconds >= this.#limit) return;
    const numbers = this.#chain.slice(0, depots);
    const legs = this.#legs.slice(0, depots + 1).filter((leg) => leg !== undefined);
    const found = { numbers, legs, lanes: this.#space.lanes[lane]?.lanes ?? 1, seconds };
    const isBehind = (one: FoundChain) =>
      one.seconds > seconds || (one.seconds === seconds && one.numbers.length > depots);
    const place = this.#top.findIndex(isBehind);
    this.#top.splice(place < 0 ? this.#top.length : place, 0, found);
    this.#top.length = Math.min(this.#top.length, this.#most);
    this.#limitByTop();
  }

  #isSame(numbers: Int32Array, depots: number): boolean {
    if (numbers.length !== depots) return false;
    for (let place = 0; place < depots; place += 1) if (numbers[place] !== this.#chain[place]) return false;
    return true;
  }

  #limitByTop(): void {
    const worst = this.#top[this.#most - 1];
    this.#limit = worst ? Math.min(this.#guess, worst.seconds * ROUNDING) : this.#guess;
  }

  /** The legs of the chain that ends with this one that has begun. */
  #gatherLegs(at: number, depots: number): void {
    const { client, origin, graph } = this.#space;
    const partial = this.#partial;
    this.#legs[0] = client[this.#chain[0] ?? 0];
    this.#legs[depots] = origin[this.#chain[depots - 1] ?? 0];
    for (let leg = depots - 1, one = at; leg > 0; leg -= 1, one = partial.before[one] ?? 0)
      this.#legs[leg] = graph.row(this.#chain[leg - 1] ?? 0).legs[partial.place[one] ?? 0];
  }

  /** As `chainSeconds`, which its tests hold it against. */
  #secondsOf(depots: number, lanes: number, perRound: number): number {
    const space = this.#space;
    const legs = this.#legs;
    let cap = INFINITE;
    for (let place = 0; place < depots; place += 1)
      cap = Math.min(cap, space.roomPerSecond[this.#chain[place] ?? 0] ?? 0);
    for (let index = 0; index <= depots; index += 1)
      cap = Math.min(cap, legs[index]?.shape(index === 0 ? 1 : lanes).capPerSecond ?? 0);
    let passing = space.clientPassing(this.#chain[0] ?? 0);
    let latest = -INFINITE;
    for (let index = 0; index <= depots; index += 1) {
      const leg = legs[index];
      if (!leg) continue;
      const shape = leg.shape(index === 0 ? 1 : lanes);
      const own = shapeSeconds(shape, space.question.sizeBytes, cap) - shape.rttSeconds / 2;
      latest = Math.max(latest, own);
      if (index > 0) passing += perRound * leg.rttSeconds;
    }
    return passing + latest;
  }
}
