import { setTimeout as delay } from 'node:timers/promises';
import { isWayFailure, LonghaulError } from '@longhaul/shared';
import type { KnownPrefix } from '../../digests/running-digest.ts';
import { isOutdated, OriginBusy } from '../../origin/joined-part.ts';
import { StillAtWork } from '../../origin/still-at-work.ts';
import { tryInTurn } from '../../racing/try-in-turn.ts';
import type { Fetcher, TimedAnswer } from '../../routes/fetcher.ts';
import { exitOf, isReserve, type Route, type RouteBook } from '../../routes/route-book.ts';
import type { Target } from '../../tickets/target.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { BusyExits } from './busy-exits.ts';
import { RepairTime, type RepairTimeLimits } from './repair-time.ts';
import type { RestPlan } from './rest-plan.ts';

export interface RepairLimits extends RepairTimeLimits {
  /**
   * Tries of one transfer, over all repairs until some MiB have come; those of rounds in which nobody
   * answered do not count.
   */
  readonly maxTries: number;
  /** How long a way that stands may take to answer before another one is tried beside it. */
  readonly standingPatienceMs: number;
}

export interface Repair {
  /** Where the last answer came from. */
  readonly target: Target;
  readonly signal: AbortSignal;
  /**
   * Why the last way was given up, where it stands until there is another one. Then nothing but the part will
   * do, and a refusal ends the search: the origin may count questions. And a way that is only slow is left
   * for one that promises more, or for none.
   */
  readonly keptFor?: 'silent' | 'slow';
}

/** One turn over all ways, and what it has met. */
interface Round extends Repair {
  readonly time: RepairTime;
  /** The route that led to the target's server last, which did not answer, or could not. */
  faultyOver: Route | undefined;
  /** The last refusal of the origin. */
  refusal: unknown;
  /** The last depots of those ways over which the origin was busy. */
  readonly busyExits: Set<string | undefined>;
}

/** An answer that brings the rest. */
export interface Repaired {
  readonly answer: TimedAnswer;
  /** What it brings before that: bytes that the client has. */
  readonly prefix: KnownPrefix | undefined;
}

/**
 * When so much has come, ways work, and all tries are there again: a long download from an origin that breaks
 * off now and then has many breaks.
 */
const RENEWS_TRIES_BYTES = 4_194_304;
/** First pause after all ways have failed, or one brought nothing; doubles each time. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/**
 * The same where nobody has answered for long, or for all tries that there are else: what is down for minutes
 * must not be asked all the time by all downloads.
 */
const LONGEST_OUTAGE_PAUSE_MS = 30_000;
/** A master that is slow to plan anew must not hold the repair up. */
const NEW_PLAN_MS = 1500;
/**
 * Answers of another version in a row that prove that there is none of the old one: servers behind one name
 * may differ.
 */
const CHANGED_TRIES = 3;
/** What every way would meet. */
const ENDS_ROUND: ReadonlySet<string> = new Set(['origin-changed']);
/** What is said of the target's server itself, over a way that stands. */
const FAULTS_OF_SERVER: ReadonlySet<string> = new Set([
  'origin-unresolvable',
  'origin-unreachable',
  'origin-timeout',
]);
/** Who names another server must not hold the repair up: the one that was named before may be there again. */
const OTHER_SERVER_MS = 10_000;

/**
 * Finds a way over which the rest of a transfer comes: the plan's other chains, then those of a new plan,
 * then this depot alone; and all of them again until time or tries are used up. The answer is proved to
 * continue what is there. Throws `origin-changed`, or `ways-used-up` with the last failure as its cause.
 */
export class Repairer {
  readonly #fetcher: Fetcher;
  readonly #download: RunningDownload;
  readonly #book: RouteBook;
  readonly #rest: RestPlan;
  readonly #limits: RepairLimits;
  readonly #steadyMs: () => number;
  #tries = 0;
  /** Where the first of these tries began. */
  #triesFromByte = 0;
  /** Where the last repair went on, and how many in a row before it came no further. */
  #atByte: number | undefined;
  #fruitless = 0;
  /** Answers of another version, in a row. */
  #changed = 0;
  readonly #busyExits: BusyExits;

  /** `rest`: how the rest of the download is asked for, and what is an answer to that. */
  constructor(
    fetcher: Fetcher,
    download: RunningDownload,
    rest: RestPlan,
    limits: RepairLimits,
    steadyMs: () => number,
  ) {
    this.#fetcher = fetcher;
    this.#download = download;
    this.#book = download.book;
    this.#rest = rest;
    this.#limits = limits;
    this.#steadyMs = steadyMs;
    this.#busyExits = new BusyExits(steadyMs);
  }

  /** Whether all tries have been used, as far as the last repair had got. */
  get isSpent(): boolean {
    return this.#tries >= this.#limits.maxTries;
  }

  /** Finds such a way, and the answer that comes over it. */
  async repair(repair: Repair): Promise<Repaired> {
    const time = new RepairTime(this.#limits, this.#steadyMs);
    try {
      return await this.#repair(repair, time);
    } finally {
      time.stop();
    }
  }

  async #repair(repair: Repair, time: RepairTime): Promise<Repaired> {
    const signal = AbortSignal.any([repair.signal, time.signal]);
    let cause: unknown;
    let outageTries = 0;
    await this.#pauseBefore(repair, signal);
    repair.signal.throwIfAborted();
    for (let pauseMs = FIRST_PAUSE_MS; ; ) {
      const triesBefore = this.#tries;
      const busyExits = new Set<string | undefined>();
      let isOtherName = false;
      try {
        const repaired = await this.#round({ ...repair, time, busyExits }, signal);
        this.#changed = 0;
        return repaired;
      } catch (failure) {
        repair.signal.throwIfAborted();
        if (repair.keptFor === 'slow' || (repair.keptFor && isRefusal(failure))) throw failure;
        if (failure instanceof StillAtWork) throw failure;
        const isChanged = failure instanceof LonghaulError && failure.code === 'origin-changed';
        isOtherName = isChanged && this.#rest.metOtherName;
        this.#changed = isChanged && !isOtherName ? this.#changed + 1 : 0;
        if (isChanged && (this.#changed >= CHANGED_TRIES || this.isSpent)) throw failure;
        cause = failure;
      }
      if (time.isOutage) {
        outageTries += this.#tries - triesBefore;
        this.#tries = triesBefore;
      }
      // Ways over which an origin asks for patience are left for so long. Others, be they broken, are tried
      // again meanwhile.
      const patience = this.#busyExits.restOver(this.#ways(), repair.target.url);
      if (patience?.isOfAll) cause = patience.busy;
      const mayRest = patience !== undefined && time.mayRest(patience.restMs);
      // An origin that is busy over several exits has said so once, and while it is waited for time alone counts.
      if (busyExits.size > 0) this.#tries = Math.min(this.#tries, triesBefore + 1);
      if (mayRest) this.#tries = triesBefore;
      if ((patience?.isOfAll && !mayRest) || this.isSpent || time.isOver)
        throw new LonghaulError('ways-used-up', { cause, ...detailOf(cause) });
      if (mayRest) time.noteAnswer(patience.restMs);
      const waitMs = patience?.isOfAll ? Math.max(pauseMs, patience.restMs) : pauseMs;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      repair.signal.throwIfAborted();
      const isLongOutage = time.isOutage && (time.isExtended || outageTries >= this.#limits.maxTries);
      const longestMs = isLongOutage ? LONGEST_OUTAGE_PAUSE_MS : LONGEST_PAUSE_MS;
      // Nothing has to recover where only another server is to be met.
      if (!isOtherName) pauseMs = Math.min(2 * pauseMs, longestMs);
    }
  }

  /**
   * Waits before a repair where the last way brought nothing and broke. An origin or depot that is just being
   * restarted would otherwise use up all tries within a moment.
   */
  async #pauseBefore({ keptFor }: Repair, signal: AbortSignal): Promise<void> {
    const atByte = this.#download.nextByte;
    this.#fruitless = atByte === this.#atByte ? this.#fruitless + 1 : 0;
    if (atByte - this.#triesFromByte >= RENEWS_TRIES_BYTES) {
      this.#tries = 0;
      this.#triesFromByte = atByte;
    }
    this.#atByte = atByte;
    if (this.#fruitless === 0 || keptFor) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#fruitless - 1), LONGEST_PAUSE_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }

  /**
   * Tries all ways to the last target, then asks where the download began once, if another server than the
   * target's did not do: it may name a third one. Only one that has the same version is taken.
   */
  async #round(repair: Repair & Pick<Round, 'time' | 'busyExits'>, signal: AbortSignal): Promise<Repaired> {
    const round: Round = { ...repair, faultyOver: undefined, refusal: undefined };
    try {
      return await this.#overRoutes(round, signal);
    } catch (failure) {
      const { faultyOver: route, target, refusal } = round;
      const { target: firstTarget } = this.#download;
      const told = repair.keptFor ? (refusal ?? failure) : failure;
      const mayBeElsewhere = !isSameServer(target, firstTarget) && !this.isSpent && !signal.aborted;
      // Whoever asks to be left alone for a while is not asked again by a way round.
      if (!route || !mayBeElsewhere || this.#busyExits.isResting(route, target.url)) throw told;
      this.#tries += 1;
      const own = AbortSignal.any([signal, AbortSignal.timeout(OTHER_SERVER_MS)]);
      const fromFirst = { ...round, target: firstTarget };
      return await this.#attempt(route, fromFirst, own, () => undefined).catch(() => {
        throw told;
      });
    }
  }

  #overRoutes(round: Round, signal: AbortSignal): Promise<Repaired> {
    return tryInTurn(this.#routes(round), {
      attempt: (route, own, onStands) => this.#attempt(route, round, own, onStands),
      patienceMs: this.#fetcher.patienceMs,
      standingPatienceMs: this.#limits.standingPatienceMs,
      signal,
      isFinal: (failure, route) => {
        if (isWayFailure(failure) && !signal.aborted) this.#fetcher.noteFailure(this.#book, route, failure);
        else this.#book.noteFailure(route.chain);
        if (isAnswer(failure) && !signal.aborted) round.time.noteAnswer();
        if (isRefusal(failure)) round.refusal = failure;
        // At once: the way that stands may go on before all others have been asked.
        const isBusy = failure instanceof OriginBusy;
        if (isBusy) {
          round.busyExits.add(exitOf(route));
          this.#busyExits.note(route, round.target.url, failure);
        }
        if (round.keptFor && (isBusy || isRefusal(failure))) this.#rest.noteRefusal(isBusy);
        if (failure instanceof LonghaulError && FAULTS_OF_SERVER.has(failure.code)) round.faultyOver = route;
        // Over each further way the whole would be made again, too.
        if (round.keptFor && !this.#rest.mayComeAlone) return true;
        if (failure instanceof StillAtWork) return true;
        const isOfOneWay = round.keptFor !== undefined && isRefusal(failure);
        return failure instanceof LonghaulError && ENDS_ROUND.has(failure.code) && !isOfOneWay;
      },
      discard: ({ answer }) => answer.connection.reset(),
    });
  }

  /** The routes over which the rest may come. */
  #ways(): Route[] {
    return this.#book.routes().filter(({ chain }) => chain.length === 1 || !this.#rest.needsDirectWay);
  }

  /**
   * The routes that have not failed yet, then those of a new plan, then all others; this depot alone last
   * among equals. None that ends where the origin was busy in this round, or still is to be left alone.
   */
  async *#routes(round: Round): AsyncGenerator<Route> {
    const { target, keptFor, busyExits } = round;
    const tried = new Set<Route>();
    const isBusy = (route: Route) =>
      busyExits.has(exitOf(route)) || this.#busyExits.isResting(route, target.url);
    const untried = () => this.#ways().filter((route) => !tried.has(route) && !isBusy(route));
    const hasFailed = (route: Route) => this.#book.failures(route.chain) > 0;
    let hasAsked = false;
    for (;;) {
      const route = untried().find((one) => hasAsked || !(isReserve(one) || hasFailed(one)));
      if (route && !this.isSpent) {
        tried.add(route);
        this.#tries += 1;
        yield route;
      } else if (hasAsked || keptFor === 'slow') return;
      else {
        hasAsked = true;
        await this.#planAnew(target);
      }
    }
  }

  /** Asks the master for chains without those that failed. Whatever goes wrong: there are other routes. */
  async #planAnew({ ticket, url }: Target): Promise<void> {
    const suspects = this.#book.suspects();
    const asked = this.#fetcher
      .followUp(ticket, url, suspects)
      .then((fresh) => this.#book.add(fresh))
      .catch(() => undefined);
    await Promise.race([asked, delay(NEW_PLAN_MS, undefined, { ref: false })]);
  }

  async #attempt(route: Route, round: Round, signal: AbortSignal, onStands: () => void): Promise<Repaired> {
    const { target, keptFor } = round;
    const { target: firstTarget } = this.#download;
    const rest = this.#rest;
    const request = keptFor ? rest.requestForPart : rest.request;
    const fetchFrom = (from: Target) => this.#fetcher.overRoute(route, from, request, signal, onStands);
    let answer = await fetchFrom(target);
    if (isOutdated(answer.head.statusCode) && firstTarget.url !== target.url) {
      answer.connection.reset();
      answer = await fetchFrom(firstTarget);
    }
    if (answer.head.statusCode >= 500) round.faultyOver = route;
    if (answer.route.chain.length > 1 && !rest.showsItsEnd(answer.head)) {
      answer.connection.reset();
      throw new LonghaulError('origin-bad-answer', { detail: 'its end through a tunnel proves nothing' });
    }
    const judged = keptFor ? rest.judgePart(answer.head) : rest.judge(answer.head);
    if (judged.ok) return { answer, prefix: judged.value };
    answer.connection.reset();
    throw judged.error;
  }
}

function isSameServer({ url: one }: Target, { url: other }: Target): boolean {
  return one.host === other.host && one.port === other.port;
}

/** Whether a failure is an answer, whoever's: not that somebody was out of reach, silent, or had too much to do. */
function isAnswer(failure: unknown): boolean {
  return !(failure instanceof LonghaulError) || (failure.blame !== 'way' && failure.blame !== 'depot');
}

/**
 * Whether a failure is the origin's no to another question. Another version is none, since servers behind one
 * name may differ, nor is a busy origin that says when it is to be asked again, one that is out of reach, or
 * what depots and masters say.
 */
function isRefusal(failure: unknown): boolean {
  if (failure instanceof OriginBusy) return failure.retryAfterSeconds === undefined;
  if (failure instanceof StillAtWork) return false;
  if (!(failure instanceof LonghaulError) || failure.blame !== 'origin' || failure.depot !== undefined)
    return false;
  return failure.code !== 'origin-changed' && !FAULTS_OF_SERVER.has(failure.code);
}

function detailOf(cause: unknown): { detail?: string } {
  return cause instanceof LonghaulError ? { detail: `last of all ${cause.code}` } : {};
}
