import { type LinkTest, MAX_TEST_BYTES } from '@longhaul/shared';
import { HourlyBudget, LruMap } from '@longhaul/shared/service';
import type { LegDistribution } from '../estimates/leg-figures.ts';
import { OWN_LINE, type SeenLine } from '../estimates/own-lines.ts';

/**
 * A link is tested when its goodput may be so far off: more than a factor of 1.8, and more than what an
 * operator types in.
 */
const UNSURE_SPREAD = 0.6;
/**
 * One that carries less than this share of what is usual may only have been congested since it was met, and
 * nothing is planned over it that would show when that is over. It is tested when it was measured so long ago
 * ...
 */
const SLOW = { share: 0.5, ageMs: 120_000 } as const;
/** ... one that has fallen from what it was lately after so long ... */
const FALLEN_MS = 45_000;
/** ... and, where it is still slow, after twice that time again, and so on, up to here. */
const MOST_SLOW_MS = 14_400_000;
/** Nor is any other one tested again earlier, unless what came of it says that it may have changed. */
const RETRY_MS = 600_000;
/**
 * A depot that was told of a test is busy with it so long at most, and so is the other one: until this one
 * tells that it has sent all of it.
 */
const TEST_MS = 20_000;
/**
 * A depot that does not say whether its transfers move, and whose uplink carries less, bits per second, has
 * as good as none: their clients read nothing, perhaps for hours.
 */
const STILL_BPS = 1_000_000;
/** Bytes of tests to and from one depot in an hour. */
const BYTES_PER_HOUR = 20_000_000;
/** Depots that are looked at for one that asks: some microseconds for each. */
const MOST_LOOKED_AT = 8;
/**
 * Round trips that a test shall last at the rate that is expected. A start that doubles with each of them
 * ends with a third to a half of all bytes in one: after two a first test has come to two thirds of that
 * rate, which is as good as known, and after three one of a slow link to all that it may carry again. Six end
 * slow start on most links.
 */
const ROUND_TRIPS = { first: 2, slow: 3, most: 6 } as const;
/** A slow link may carry so many times as much again: more is found by the tests that follow. */
const MOST_HEALED = 2;
/**
 * What is known, and has only grown old, is tested by so much of what both depots have left, where a first
 * test would not take more.
 */
const SHARE_OF_LEFT = 0.25;
/**
 * So many links that are narrow make it likely that their depot's line is: tests over others need no more
 * bytes than that.
 */
const LINKS_OF_LIKELY_LINE = 2;
/** Less than this says nothing of a rate. */
const LEAST_BYTES = 262_144;
/** Pairs of depots of which is remembered when they were told. */
const MOST_PAIRS = 20_000;
/** Depots whose budgets are remembered. */
const MOST_DEPOTS = 2_000;

/** What counts of a depot here. */
export interface TestableDepot {
  readonly id: string;
  /** Only those that are `up` are tested. */
  readonly state: string;
  /** Transfers that it served when it was heard last. */
  readonly activeTransfers: number;
  /** Whether these carried bytes then, or had just begun, as it says itself; left out by depots of before. */
  readonly isMoving?: boolean;
  /** What its uplink carried then, bits per second; left out where that is not known. */
  readonly sentBps?: number;
}

/** A test that two depots are busy with. */
interface Running {
  readonly from: string;
  readonly to: string;
  readonly untilMs: number;
  /** What is still to be sent, by what its sender has told. */
  leftBytes: number;
}

interface IdleLinksInit {
  readonly links: {
    distribution(one: string, other: string, nowMs: number): LegDistribution;
    usualBps(rttMs: number): number;
    linesOf(one: string, other: string, askedBps: number): readonly SeenLine[];
  };
  /** 0 to below 1, evenly. */
  readonly random?: () => number;
}

/**
 * Chooses the tests of links that no transfer measures: the one among some that tells most for its bytes.
 * Never two at once on one depot, none on one that carries transfers, none beyond a depot's bytes of an hour.
 */
export class IdleLinks {
  readonly #init: IdleLinksInit;
  /** By each of both. */
  readonly #running = new LruMap<string, Running>(MOST_DEPOTS);
  readonly #told = new LruMap<string, { readonly atMs: number; readonly timesSlow: number }>(MOST_PAIRS);
  readonly #budgets = new LruMap<string, HourlyBudget>(MOST_DEPOTS);

  constructor(init: IdleLinksInit) {
    this.#init = init;
  }

  /** What the depot `id`, which has just been heard, shall fetch from which other one now; `undefined` for nothing. */
  next(id: string, depots: readonly TestableDepot[], nowMs: number): LinkTest | undefined {
    const idle = depots.filter((depot) => this.#isIdle(depot, nowMs));
    if (!idle.some((depot) => depot.id === id)) return undefined;
    const candidates = this.#some(idle.filter((depot) => depot.id !== id)).flatMap((from) => {
      const known = this.#init.links.distribution(id, from.id, nowMs);
      const pair = `${from.id} ${id}`;
      const isDue = this.#mayHaveHealed(pair, known, nowMs) || this.#isDoubtedAnew(pair, known, nowMs);
      const isUnsure = known.goodputBps.spread > UNSURE_SPREAD || known.doubtedBps !== undefined;
      if (!isUnsure && !isDue) return [];
      const bytes = this.#bytesFor(from.id, id, known, nowMs);
      return [{ from: from.id, known, isDue, bytes, worth: this.#worth(from.id, id, known, bytes) }];
    });
    for (const { from, known, isDue, bytes } of candidates.toSorted(worthMostFirst)) {
      const pair = `${from} ${id}`;
      const told = this.#told.get(pair);
      const wasTold = told !== undefined && !isDue && Math.abs(nowMs - told.atMs) < RETRY_MS;
      if (wasTold || !this.#spend([id, from], bytes, nowMs)) continue;
      const isSlow = this.#patienceMs(known) !== undefined;
      this.#told.set(pair, { atMs: nowMs, timesSlow: isSlow ? 1 + (told?.timesSlow ?? 0) : 0 });
      const test = { from, to: id, untilMs: nowMs + TEST_MS, leftBytes: bytes };
      for (const end of [id, from]) this.#running.set(end, test);
      return { from, bytes };
    }
    return undefined;
  }

  /**
   * A depot tells what it has sent to another one since its last heartbeat: after all of a test neither is
   * busy with it any more.
   */
  noteSent(from: string, to: string, sentBytes: number): void {
    const test = this.#running.get(from);
    if (test?.from === from && test.to === to) test.leftBytes -= sentBytes;
  }

  /**
   * How much a test says for its bytes: the more, the less is known of the link, and of the lines of its two
   * ends. One that is narrow hides the line of the other end, and makes no test worth more by needing less:
   * else a wide depot that joins would be met by the narrow ones first.
   */
  #worth(from: string, to: string, known: LegDistribution, bytes: number): number {
    const { goodputBps, rttMs } = known;
    const usualBps = this.#init.links.usualBps(rttMs.value);
    const lines = this.#init.links.linesOf(to, from, usualBps);
    const isTold = ({ links }: SeenLine) => links >= OWN_LINE.telling;
    const isNarrow = lines.some((line) => isTold(line) && OWN_LINE.times * line.mostBps < usualBps);
    const untold = isNarrow ? [] : lines.filter((line) => !isTold(line));
    const unboundBytes = bytesOf(likelyBps(usualBps, untold), rttMs.value, ROUND_TRIPS.first);
    return (
      (goodputBps.spread * (1 + untold.length)) /
      (isUnmeasured(known) ? Math.max(bytes, unboundBytes) : bytes)
    );
  }

  /** As many bytes as the link is expected to carry in some round trips. */
  #bytesFor(from: string, to: string, known: LegDistribution, nowMs: number): number {
    const { links } = this.#init;
    const { rttMs, goodputBps, doubtedBps, fellFromBps } = known;
    const bytesIn = (roundTrips: number, bps: number) => bytesOf(bps, rttMs.value, roundTrips);
    if (doubtedBps !== undefined) return bytesIn(ROUND_TRIPS.most, doubtedBps);
    if (this.#patienceMs(known) !== undefined) {
      const healedBps = fellFromBps ?? links.usualBps(rttMs.value);
      return bytesIn(ROUND_TRIPS.slow, Math.min(healedBps, MOST_HEALED * goodputBps.value));
    }
    if (isUnmeasured(known) && this.#told.get(`${from} ${to}`) === undefined) {
      // Where the line is not as narrow as some links made it look, the next test has more.
      const lines = links.linesOf(to, from, goodputBps.value);
      return bytesIn(ROUND_TRIPS.first, likelyBps(goodputBps.value, lines));
    }
    const leftBytes = Math.min(...[from, to].map((id) => this.#budgetOf(id).leftAt(nowMs)));
    const mostBytes = bytesIn(ROUND_TRIPS.most, goodputBps.value);
    const leastBytes = bytesIn(ROUND_TRIPS.first, goodputBps.value);
    return Math.round(Math.max(leastBytes, Math.min(mostBytes, SHARE_OF_LEFT * leftBytes)));
  }

  /** How long a slow link is left alone at first; `undefined` of one that is not slow. */
  #patienceMs({ goodputBps, rttMs, fellFromBps }: LegDistribution): number | undefined {
    if (goodputBps.source !== 'measured') return undefined;
    if (fellFromBps !== undefined) return FALLEN_MS;
    return goodputBps.value < SLOW.share * this.#init.links.usualBps(rttMs.value) ? SLOW.ageMs : undefined;
  }

  /** Whether what was measured since the last test was told is far from what is known. */
  #isDoubtedAnew(pair: string, { doubtedBps, goodputBps }: LegDistribution, nowMs: number): boolean {
    const told = this.#told.get(pair);
    return doubtedBps !== undefined && (!told || (goodputBps.ageMs ?? 0) < nowMs - told.atMs);
  }

  /**
   * Whether a slow link was neither measured nor tested for a while: the longer the more often it was found
   * to be slow.
   */
  #mayHaveHealed(pair: string, known: LegDistribution, nowMs: number): boolean {
    const told = this.#told.get(pair);
    const firstMs = this.#patienceMs(known);
    if (firstMs === undefined && told && told.timesSlow > 0) this.#told.set(pair, { ...told, timesSlow: 0 });
    const { ageMs = 0 } = known.goodputBps;
    if (firstMs === undefined || ageMs < firstMs) return false;
    const patienceMs = Math.min(firstMs * 2 ** (told?.timesSlow ?? 0), MOST_SLOW_MS);
    return told === undefined || Math.abs(nowMs - told.atMs) >= patienceMs;
  }

  #isIdle({ id, state, activeTransfers, sentBps, ...said }: TestableDepot, nowMs: number): boolean {
    const { untilMs = 0, leftBytes = 0 } = this.#running.get(id) ?? {};
    // A clock that was set back keeps nobody busy.
    const isBusy = leftBytes > 0 && nowMs < untilMs && untilMs - nowMs <= TEST_MS;
    const { isMoving = activeTransfers > 0 && (sentBps === undefined || sentBps >= STILL_BPS) } = said;
    return state === 'up' && !isMoving && !isBusy;
  }

  /** Some of many, drawn at random. */
  #some(depots: readonly TestableDepot[]): readonly TestableDepot[] {
    if (depots.length <= MOST_LOOKED_AT) return depots;
    const { random = Math.random } = this.#init;
    const first = Math.floor(random() * depots.length);
    const step = 1 + Math.floor(random() * (depots.length - 1));
    const places = Array.from(
      { length: MOST_LOOKED_AT },
      (_, index) => (first + index * step) % depots.length,
    );
    return [...new Set(places)].flatMap((place) => depots[place] ?? []);
  }

  /** Spends bytes of all of these depots, or of none. */
  #spend(ids: readonly string[], bytes: number, nowMs: number): boolean {
    const budgets = ids.map((id) => this.#budgetOf(id));
    return (
      budgets.every((budget) => budget.leftAt(nowMs) >= bytes) &&
      budgets.every((budget) => budget.take(bytes, nowMs))
    );
  }

  #budgetOf(id: string): HourlyBudget {
    const budget = this.#budgets.get(id) ?? HourlyBudget.forTests(BYTES_PER_HOUR);
    this.#budgets.set(id, budget);
    return budget;
  }
}

interface Candidate {
  readonly known: LegDistribution;
  /** What is said of the link or of its ends, for each byte. */
  readonly worth: number;
}

/**
 * Whether nobody has measured the direction that a test would: what the other one carries only lets expect
 * something of it.
 */
function isUnmeasured({ goodputBps, isBackward = false }: LegDistribution): boolean {
  return goodputBps.ageMs === undefined || isBackward;
}

/** So much, or less where some links make it likely that one of these lines is narrow. */
function likelyBps(bps: number, lines: readonly SeenLine[]): number {
  const likely = lines.filter(({ links }) => links >= LINKS_OF_LIKELY_LINE);
  return Math.min(bps, ...likely.map(({ mostBps }) => OWN_LINE.times * mostBps));
}

/** As many bytes as take so many round trips at a rate, within bounds. */
function bytesOf(bps: number, rttMs: number, roundTrips: number): number {
  const bytes = ((bps / 8) * rttMs * roundTrips) / 1000;
  return Math.round(Math.min(Math.max(bytes, LEAST_BYTES), MAX_TEST_BYTES));
}

/** What may have changed lately comes first. */
function worthMostFirst(one: Candidate, other: Candidate): number {
  const isDoubted = ({ known }: Candidate) => Number(known.doubtedBps !== undefined);
  return isDoubted(other) - isDoubted(one) || other.worth - one.worth;
}
