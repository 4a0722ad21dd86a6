import { setTimeout as delay } from 'node:timers/promises';
import { LonghaulError } from '@longhaul/shared';
import { joinFailure, OriginBusy } from '../lanes/origin-busy.ts';
import { tryInTurn } from '../racing/try-in-turn.ts';
import {
  abandon,
  type FetchedAnswer,
  fetchOverChain,
  isChainFailure,
  type OriginFetchComponents,
  type RequestFor,
} from './origin-fetch.ts';
import { headersForPart, type Part, type Representation } from './representation.ts';
import { type Choice, isReserve, type RouteBook } from './route-book.ts';
import type { Target } from './target.ts';

export interface RepairLimits {
  /** Tries of one transfer, over all of its repairs. */
  readonly maxTries: number;
  /** Longest time of one repair. */
  readonly repairMs: number;
  /** Silence of a way after which another one is tried beside it. */
  readonly silenceMs: number;
}

interface Repair {
  /** Where the last answer came from. */
  readonly target: Target;
  /** What the client asked for; it may lead elsewhere by now than to `target`. */
  readonly firstTarget: Target;
  readonly representation: Representation;
  /** What is missing. */
  readonly part: Part;
  /** The request of a plain GET, without conditions. */
  readonly requestFor: RequestFor;
  readonly signal: AbortSignal;
}

/** First pause after all ways have failed, or one brought nothing; doubles each time. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** A master that is slow to plan anew must not hold the repair up. */
const NEW_PLAN_MS = 1500;
/** What every way would meet. */
const ENDS_ROUND: ReadonlySet<string> = new Set(['origin-changed', 'origin-busy']);
/** Refusals of an address that was good before: a redirect's target may live shorter than the download. */
const OUTDATED = new Set([401, 403, 404, 410]);

/**
 * Finds a way over which the rest of a transfer comes: the plan's other chains, then those of a new plan, then this depot
 * alone; and all of them again until time or tries are used up. The answer is proved to continue what is there. Throws
 * `origin-changed`, or `ways-used-up` with the last failure as its cause.
 */
export class Repairer {
  readonly #components: OriginFetchComponents;
  readonly #book: RouteBook;
  readonly #limits: RepairLimits;
  #tries = 0;
  /** Where the last repair went on, and how many in a row before it came no further. */
  #atByte: number | undefined;
  #fruitless = 0;

  constructor(components: OriginFetchComponents, book: RouteBook, limits: RepairLimits) {
    this.#components = components;
    this.#book = book;
    this.#limits = limits;
  }

  /** Whether all tries have been used. */
  get isSpent(): boolean {
    return this.#tries >= this.#limits.maxTries;
  }

  async repair(repair: Repair): Promise<FetchedAnswer> {
    const deadline = AbortSignal.timeout(this.#limits.repairMs);
    const signal = AbortSignal.any([repair.signal, deadline]);
    let cause: unknown;
    await this.#rest(repair.part.startByte, signal);
    repair.signal.throwIfAborted();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await this.#round(repair, signal);
      } catch (failure) {
        repair.signal.throwIfAborted();
        if (failure instanceof LonghaulError && failure.code === 'origin-changed') throw failure;
        cause = failure;
      }
      // An origin that asks for patience is left alone for so long, over whatever way.
      const restMs = cause instanceof OriginBusy ? (cause.retryAfterSeconds ?? 0) * 1000 : 0;
      if (restMs > this.#limits.repairMs)
        throw new LonghaulError('ways-used-up', { cause, ...detailOf(cause) });
      if (this.isSpent || deadline.aborted)
        throw new LonghaulError('ways-used-up', { cause, ...detailOf(cause) });
      await delay(Math.max(pauseMs, restMs), undefined, { signal }).catch(() => undefined);
      repair.signal.throwIfAborted();
    }
  }

  /** Before a repair of one that has brought nothing: an origin or depot that starts anew would use up all tries at once. */
  async #rest(atByte: number, signal: AbortSignal): Promise<void> {
    this.#fruitless = atByte === this.#atByte ? this.#fruitless + 1 : 0;
    this.#atByte = atByte;
    if (this.#fruitless === 0) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#fruitless - 1), LONGEST_PAUSE_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }

  #round(repair: Repair, signal: AbortSignal): Promise<FetchedAnswer> {
    return tryInTurn(this.#ways(repair), {
      attempt: (choice, own, onStands) => this.#attempt(choice, repair, own, onStands),
      patienceMs: this.#components.patienceMs,
      standingPatienceMs: this.#limits.silenceMs,
      signal,
      isFinal: (failure, choice) => {
        const isChain = isChainFailure(failure);
        this.#book.noteFailure(choice.chain, isChain ? failure.depot : undefined);
        if (isChain && !signal.aborted) this.#components.onChainFailed(choice.ticket.claims, failure);
        return failure instanceof LonghaulError && ENDS_ROUND.has(failure.code);
      },
      discard: ({ answer }) => abandon(answer),
    });
  }

  /** The ways that have not failed yet, then those of a new plan, then all others; this depot alone last among equals. */
  async *#ways({ target }: Repair): AsyncGenerator<Choice> {
    const tried = new Set<Choice>();
    const untried = () => this.#book.choices().filter((choice) => !tried.has(choice));
    const hasFailed = (choice: Choice) => this.#book.failures(choice.chain) > 0;
    let hasAsked = false;
    for (;;) {
      const choice = untried().find((one) => hasAsked || !(isReserve(one) || hasFailed(one)));
      if (choice && !this.isSpent) {
        tried.add(choice);
        this.#tries += 1;
        yield choice;
      } else if (hasAsked) return;
      else {
        hasAsked = true;
        await this.#planAnew(target);
      }
    }
  }

  /** Asks the master for chains without those that failed. Whatever goes wrong: there are other ways. */
  async #planAnew({ ticket, url }: Target): Promise<void> {
    const suspects = this.#book.suspects();
    const asked = this.#components
      .followUp(ticket, url, suspects)
      .then((fresh) => this.#book.add(fresh))
      .catch(() => undefined);
    await Promise.race([asked, delay(NEW_PLAN_MS, undefined, { ref: false })]);
  }

  async #attempt(
    choice: Choice,
    { target, firstTarget, representation, part, requestFor }: Repair,
    signal: AbortSignal,
    onStands: () => void,
  ): Promise<FetchedAnswer> {
    const requestForPart: RequestFor = (url) => {
      const asked = requestFor(url);
      return { ...asked, headers: { ...asked.headers, ...headersForPart(representation, part) } };
    };
    const fetchFrom = (from: Target) =>
      fetchOverChain(this.#components, choice, from, requestForPart, signal, onStands);
    let fetched = await fetchFrom(target);
    if (OUTDATED.has(fetched.answer.statusCode ?? 0) && firstTarget.url !== target.url) {
      abandon(fetched.answer);
      fetched = await fetchFrom(firstTarget);
    }
    const failure = joinFailure(fetched.answer, representation, part);
    if (!failure) return fetched;
    abandon(fetched.answer);
    throw failure;
  }
}

function detailOf(cause: unknown): { detail?: string } {
  return cause instanceof LonghaulError ? { detail: `last of all ${cause.code}` } : {};
}
