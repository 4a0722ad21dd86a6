import {
  type Chain,
  type ClientMeasure,
  clientPrefix,
  type FeedbackAnswer,
  type FeedbackRequest,
  type Outcome,
  ok,
  type Result,
  refuse,
} from '@longhaul/shared';
import { HourlyBudget, LruMap } from '@longhaul/shared/service';
import type { EmitEvent } from '../events.ts';
import type { PlannedJob, RecentJobs } from '../outcomes/recent-jobs.ts';
import type { FeedbackBook } from './feedback-book.ts';

/** What one client network may tell in an hour, a quarter of it at once: people tell of a download once or twice. */
const TOLD_PER_HOUR = 80;
/** Networks of which is remembered how much they have told. */
const MOST_NETWORKS = 20_000;

interface FeedbackServiceInit {
  readonly jobs: Pick<RecentJobs, 'get'>;
  readonly book: FeedbackBook;
  /** What depots have told of a job. */
  readonly outcomeOf: (jobId: string) => Outcome | undefined;
  /** Told of what a client has got of its job. */
  readonly onMeasured: (job: PlannedJob, measured: ClientMeasure, nowMs: number) => void;
  readonly emit: EmitEvent;
}

type Effect = Omit<FeedbackAnswer, 'jobId'>;

/** A depot that sends with so large a share of what was predicted is not what makes a download slow. */
const AS_PREDICTED = 0.8;

/** Takes in what clients say of their downloads. */
export class FeedbackService {
  readonly #init: FeedbackServiceInit;
  readonly #told = new LruMap<string, HourlyBudget>(MOST_NETWORKS);

  constructor(init: FeedbackServiceInit) {
    this.#init = init;
  }

  /**
   * `feedback-limited`; `job-unknown` where the job was not planned for the client's network, of late;
   * `bad-request` where its plan does not name the depot.
   */
  take(
    { jobId, verdict, depot, measured }: FeedbackRequest,
    address: string,
    nowMs: number,
  ): Result<FeedbackAnswer> {
    const network = clientPrefix(address);
    if (!this.#spend(network, nowMs)) return refuse('feedback-limited');
    const job = this.#init.jobs.get(jobId);
    // Who knows a job of others is not told so.
    if (job?.network !== network) return refuse('job-unknown');
    if (depot !== undefined && !namesDepot(job, depot))
      return refuse('bad-request', 'depot is none of that download');
    if (measured) this.#init.onMeasured(job, measured, nowMs);
    const effect = this.#effectOf(job, verdict, depot, nowMs);
    this.#init.emit({ type: 'feedback', verdict, effect: effect.effect, jobId, host: job.host });
    return ok({ jobId, ...effect });
  }

  #effectOf(
    job: PlannedJob,
    verdict: FeedbackRequest['verdict'],
    depot: string | undefined,
    nowMs: number,
  ): Effect {
    const { book } = this.#init;
    const { network, host, chain } = job;
    if (verdict === 'prefer-direct') return goesDirect(book.judgeDirect(network, host, true, nowMs));
    if (verdict === 'worked') {
      for (const id of chain) book.judgeDepot(network, id, false, nowMs);
      // Whoever has got a chain and is content does not mind them.
      if (chain.length > 0) book.judgeDirect(network, host, false, nowMs);
      return { effect: 'none' };
    }
    const suspect =
      depot ?? (verdict === 'slow' ? slowDepot(this.#init.outcomeOf(job.jobId), chain) : chain[0]);
    // A direct download that failed, or was slow, says nothing of depots.
    if (suspect === undefined) return { effect: 'none' };
    const untilMs = book.judgeDepot(network, suspect, true, nowMs);
    return { effect: 'avoids-depot', depot: suspect, until: new Date(untilMs).toISOString() };
  }

  #spend(network: string, nowMs: number): boolean {
    const told = this.#told.get(network) ?? new HourlyBudget(TOLD_PER_HOUR);
    this.#told.set(network, told);
    return told.take(1, nowMs);
  }
}

function goesDirect(untilMs: number): Effect {
  return { effect: 'goes-direct', until: new Date(untilMs).toISOString() };
}

function namesDepot({ chain, alternatives }: PlannedJob, depot: string): boolean {
  return [chain, ...alternatives].some((one) => one.includes(depot));
}

/**
 * The depot that a slow download is laid to: who sends on the leg that was furthest below its prediction, as
 * the senders have told; else the entry depot, because of the leg to the client nobody tells but itself and
 * the client. `undefined` where it is the origin: all depots have told that they sent as predicted, and none
 * was held back by who receives from it. That is never so of a depot alone: nobody but the client has seen
 * what it does.
 */
function slowDepot(outcome: Outcome | undefined, chain: Chain): string | undefined {
  const legs = toldLegs(outcome, chain);
  const [slowest] = legs.toSorted((one, other) => one.share - other.share);
  if (slowest && slowest.share < AS_PREDICTED) return slowest.from;
  const haveAllTold = chain.every((id) => legs.some(({ from }) => from === id));
  const isOriginSlow = chain.length > 1 && haveAllTold && legs.every(({ isTaken }) => isTaken);
  return isOriginSlow ? undefined : chain[0];
}

interface ToldLeg {
  readonly from: string;
  /** What was sent of what was predicted, where the network alone held the sender back. */
  readonly share: number;
  /** Whether who receives took what came, and does not say that it was less. */
  readonly isTaken: boolean;
}

/** What depots sent on their legs, as they have told. */
function toldLegs(outcome: Outcome | undefined, chain: Chain): readonly ToldLeg[] {
  return (outcome?.legs ?? []).flatMap(({ from, predicted, measured }) => {
    if (!predicted || measured?.goodputBps === undefined || !chain.includes(from)) return [];
    const { goodputBps, limitedBy, isDisputed } = measured;
    return [
      { from, share: goodputBps / predicted.goodputBps, isTaken: limitedBy !== 'receiver' && !isDisputed },
    ];
  });
}
