import {
  CLIENT,
  type ClientMeasure,
  isSameChain,
  type JobDownload,
  type JobLeg,
  type JobReport,
  jobReportSchema,
  joinJobReports,
  type Outcome,
  rateBpsOf,
  transferSeconds,
} from '@longhaul/shared';
import * as z from 'zod';
import type { EmitEvent } from '../events.ts';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { SpeakerRoom } from '../facts/speaker-room.ts';
import { keyOf, partsOf, secondOf } from '../facts/two-part-keys.ts';
import {
  directSeconds,
  modelSeconds,
  predictedSeconds,
  type RouteBasis,
  unseenSeconds,
} from '../planning/decision/route-basis.ts';
import { MOST_TIMES_PLANNED } from '../planning/decision/taken-ways.ts';
import type { Calibrations } from './calibrations.ts';
import { DisputeBook } from './dispute-book.ts';
import { outcomeLegs } from './job-legs-told.ts';
import type { PlannedJob, RecentJobs } from './recent-jobs.ts';
import type { WayBook, WholeDownload } from './way-book.ts';

/** Reports of jobs that are remembered, some hundred bytes each; a depot sends a hundred in each heartbeat at most. */
const MOST_REPORTS = 50_000;
/** After this nobody looks for what came of a job. */
const REPORT_LIFE_MS = 3_600_000;
/** Less than this is over before a rate is reached, and says nothing of predictions. */
const LEAST_COMPARED_BYTES = 100_000;

/**
 * A chain that was left is at fault where the rest has come so many times as fast over another one: else the
 * origin is slow, or the line.
 */
const TELLING_GAIN = 1.5;

/**
 * A download that its client gave up says that its way is slow where it had run so many times as long as the
 * whole was to take.
 */
const LEAST_TIMES_GIVEN_UP = 2;

/** Hardly anything has run beside a download that had so large a share of what went to its client. */
const HARDLY_BESIDE = 0.8;

/**
 * A second depot says the same of a download where it has sent so much of it, in so much longer: it may have
 * stood ready before.
 */
const SECONDED = { bytes: 0.9, times: 1.25, moreSeconds: 0.5 };

/** What a depot has told of a job that ended there, by `<job id> <depot>`. */
const JOB_REPORTED = {
  name: 'job-reported',
  schema: z.custom<JobReport>((value) => jobReportSchema.safeParse(value).success),
  keys: /^[A-Za-z0-9_-]{1,16} [a-z0-9-]{1,10}$/,
  most: MOST_REPORTS,
  whenFull: 'forget-oldest',
  lifeMs: REPORT_LIFE_MS,
  isKept: false,
} satisfies FactKind<unknown>;

export const JOB_FACTS = [JOB_REPORTED];

interface OutcomeBookInit {
  readonly facts?: Facts;
  readonly jobs: RecentJobs;
  readonly emit: EmitEvent;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Told of a depot whose neighbours have got less than it says, and when they agree again. */
  readonly onTrust?: (depot: string, isTrusted: boolean) => void;
  /** Told how long downloads took beside what the model says. */
  readonly calibrations?: Pick<Calibrations, 'note'>;
  /** The same, chain by chain. */
  readonly ways?: Pick<WayBook, 'note'>;
  /** Told of a plan's client, by an entry depot that the plan names: from which network it came there. */
  readonly onSeen?: (network: string, seen: { depot: string; prefix: string }, nowMs: number) => void;
  /** Called when a download has come whole, with the depots of its plan that it came over. */
  readonly onWorked?: (job: PlannedJob, depots: readonly string[], nowMs: number) => void;
}

/**
 * What came of plans, beside what they predicted. A depot is believed of jobs whose plan names it, and of a
 * download only as its entry depot. Who has planned a job compares it, whichever master was told.
 */
export class OutcomeBook {
  readonly #init: OutcomeBookInit;
  readonly #facts: Facts;
  readonly #compared = new WeakSet<PlannedJob>();
  /** What was learned of a way by the entry depot's word alone, until a second depot says so as well. */
  readonly #unseconded = new WeakMap<PlannedJob, WholeDownload>();
  /** What clients say that they got: one word for each job, kept as long as that. */
  readonly #clients = new WeakMap<PlannedJob, ClientMeasure>();
  readonly #disputes: DisputeBook;
  readonly #room: SpeakerRoom<JobReport>;

  constructor(init: OutcomeBookInit) {
    this.#init = init;
    this.#facts = init.facts ?? new Facts({ kinds: JOB_FACTS });
    this.#room = new SpeakerRoom({ facts: this.#facts, kind: JOB_REPORTED, speakerOf: secondOf });
    this.#disputes = new DisputeBook({
      reportOf: (jobId, depot) => this.#reportOf({ jobId }, depot),
      steadyMs: init.steadyMs,
      ...(init.onTrust ? { onChange: init.onTrust } : {}),
    });
    this.#facts.store.watch(JOB_REPORTED, (now) => {
      if (!now) return;
      const [jobId, depot] = partsOf(now.key);
      this.#disputes.note(depot, now.value);
      const job = init.jobs.get(jobId);
      if (!job) return;
      this.#tellSeen(job, depot, now.value, now.timeMs);
      if (now.value.download) this.#compare(job, depot, now.value.download, now.timeMs);
      this.#second(job, now.timeMs);
    });
  }

  /** Takes in what a depot tells of jobs that have ended there. */
  report(depot: string, reports: readonly JobReport[], nowMs: number): void {
    for (const report of reports) {
      // It may have told another master of the first part.
      this.#room.update(keyOf(report.jobId, depot), nowMs, (known) =>
        known ? joinJobReports(known, report) : report,
      );
    }
  }

  /** Takes in what a client has got of its job; the last word counts. Nobody else sees what a direct download takes. */
  noteClient(job: PlannedJob, measured: ClientMeasure, nowMs: number): void {
    this.#clients.set(job, measured);
    const { jobId, chain, basis, network, host, client, isAsked } = job;
    const { bytes, seconds } = measured;
    if (chain.length > 0 || isAsked || bytes < LEAST_COMPARED_BYTES) return;
    const timesPlanned = seconds / modelSeconds(basis, 1, bytes);
    const took = { bodyBytes: bytes, lanes: 1, seconds, timesPlanned };
    this.#init.ways?.note({ network, host }, { ...took, jobId, chain, client, isSeconded: true }, nowMs);
  }

  /** Whether what a depot tells fits what its neighbours tell. */
  isTrusted(depot: string): boolean {
    return this.#disputes.isTrusted(depot);
  }

  /** What came of a job that was planned here; `undefined` while nobody has told. */
  of(jobId: string): Outcome | undefined {
    const job = this.#init.jobs.get(jobId);
    return job && this.#outcomeOf(job);
  }

  /** The newest `most` jobs of which anything is told, the newest first. */
  recent(most: number): (Outcome & Pick<PlannedJob, 'jobId' | 'host'>)[] {
    const found: (Outcome & Pick<PlannedJob, 'jobId' | 'host'>)[] = [];
    for (const job of [...this.#init.jobs.all()].toReversed()) {
      const outcome = this.#outcomeOf(job);
      if (outcome) found.push({ jobId: job.jobId, host: job.host, ...outcome });
      if (found.length >= most) break;
    }
    return found;
  }

  #outcomeOf(job: PlannedJob): Outcome | undefined {
    const { chain, lanes } = job;
    const reports = new Map<string, JobReport>();
    for (const depot of depotsOf(job)) {
      const told = this.#reportOf(job, depot);
      if (told) reports.set(depot, told);
    }
    const client = this.#clients.get(job);
    if (reports.size === 0 && !client) return undefined;
    const download = [...reports].find(
      ([depot, told]) => told.download && isServedBy(job, depot, told.download),
    )?.[1].download;
    return {
      chain: [...chain],
      lanes,
      ...(download ? { download, ...secondsOf(job, download) } : {}),
      ...(client
        ? { client: { ...client, predictedSeconds: predictedSeconds(job.basis, lanes, client.bytes) } }
        : {}),
      legs: outcomeLegs(job, reports),
    };
  }

  /** Tells of where a client came from. Who chooses chains by himself would speak by as many depots as he likes. */
  #tellSeen(job: PlannedJob, depot: string, { legs }: JobReport, nowMs: number): void {
    const { prefix } = legs.find(({ peer }) => peer === CLIENT) ?? {};
    if (prefix === undefined || job.isAsked || !isEntryOf(job, depot) || !this.isTrusted(depot)) return;
    this.#init.onSeen?.(job.network, { depot, prefix }, nowMs);
  }

  #compare(job: PlannedJob, depot: string, download: JobDownload, nowMs: number): void {
    const { emit, onWorked } = this.#init;
    if (this.#compared.has(job) || !isServedBy(job, depot, download)) return;
    this.#compared.add(job);
    const { predictedSeconds: predicted, directSeconds: direct } = secondsOf(job, download);
    const unseen = unseenSeconds(job.basis);
    const planned = depotsOf(job);
    if (predicted !== undefined && this.isTrusted(depot))
      this.#learn(job, download, download.seconds + unseen, nowMs);
    if (this.isTrusted(depot)) {
      this.#learnLeft(job, download, nowMs);
      this.#learnGivenUp(job, download, nowMs);
    }
    if (download.outcome === 'complete')
      onWorked?.(
        job,
        download.chain.filter((id) => planned.has(id)),
        nowMs,
      );
    emit({
      type: 'job-ended',
      jobId: job.jobId,
      host: job.host,
      outcome: download.outcome,
      ...(predicted === undefined ? {} : { error: Math.abs(Math.log(download.seconds / predicted)) }),
      ...(direct === undefined ? {} : { regret: Math.max(0, (download.seconds + unseen) / direct - 1) }),
    });
  }

  /** What a download took that came whole over the chain that was planned. */
  #learn(
    job: PlannedJob,
    { bodyBytes, ownShare, waitedSeconds }: JobDownload,
    taken: number,
    nowMs: number,
  ): void {
    const { calibrations, ways } = this.#init;
    const { jobId, basis, lanes, network, host, chain, client, isAsked } = job;
    const pair = { network, host };
    const planned = modelSeconds(basis, lanes, bodyBytes);
    const seconds = secondsAlone(taken, planned, ownShare);
    if (seconds === undefined) return;
    const timesPlanned = seconds / planned;
    calibrations?.note(pair, timesPlanned, nowMs);
    // What a client chooses by itself is no matter of others; nor how slowly one reads.
    if (isAsked || (timesPlanned > 1 && this.#isReaderSlow(job))) return;
    const thoughtSeconds = Math.min(thought(basis, waitedSeconds), Math.max(0, seconds - planned));
    const took = { seconds, timesPlanned, thoughtSeconds };
    const download = { jobId, chain, client, bodyBytes, lanes, ...took, isSeconded: false };
    ways?.note(pair, download, nowMs);
    this.#unseconded.set(job, download);
  }

  /**
   * What the whole would have taken over the planned chain, where that was left for being slow and another
   * one did better.
   */
  #learnLeft(
    job: PlannedJob,
    { requests, bodyBytes, seconds, chain, left, ownShare }: JobDownload,
    nowMs: number,
  ): void {
    const { jobId, basis, lanes, network, host, client, isAsked } = job;
    // Nobody tells of another entry depot's chain.
    if (!left || requests !== 1 || isAsked || job.chain[0] !== chain[0]) return;
    if (!isSameChain(left.chain, job.chain) || isSameChain(chain, job.chain)) return;
    const restBytes = bodyBytes - left.bytes;
    const restBps = rateBpsOf(restBytes, seconds - left.seconds);
    if (restBytes < LEAST_COMPARED_BYTES || !(restBps >= TELLING_GAIN * left.meanBps)) return;
    const planned = modelSeconds(basis, lanes, bodyBytes);
    const times = Math.min(MOST_TIMES_PLANNED, transferSeconds(bodyBytes, left.meanBps) / planned);
    const alone = secondsAlone(times * planned, planned, ownShare);
    if (alone === undefined) return;
    const whole = { bodyBytes, lanes, seconds: alone, timesPlanned: alone / planned };
    const of = { jobId, chain: job.chain, client };
    this.#init.ways?.note({ network, host }, { ...whole, ...of, isSeconded: false }, nowMs);
  }

  /**
   * What a download took at least that its client gave up, where it had run far longer by then than the whole
   * was to take: who would wait for one that is so slow?
   */
  #learnGivenUp(job: PlannedJob, download: JobDownload, nowMs: number): void {
    const { jobId, basis, lanes, network, host, chain, client, isAsked, sizeBytes } = job;
    const { outcome, requests, bodyBytes, left, ownShare, waitedSeconds } = download;
    if (outcome !== 'client-left' || requests !== 1 || left || isAsked) return;
    if (!isSameChain(download.chain, chain) || bodyBytes < LEAST_COMPARED_BYTES) return;
    const taken = this.#secondsOnWay(job, download);
    if (sizeBytes === undefined || taken === undefined) return;
    const wholeBytes = Math.max(sizeBytes, bodyBytes);
    const planned = modelSeconds(basis, lanes, wholeBytes);
    const seconds = secondsAlone(taken, planned, ownShare) ?? 0;
    const thoughtSeconds = Math.min(thought(basis, waitedSeconds), Math.max(0, seconds - planned));
    if (seconds - thoughtSeconds < LEAST_TIMES_GIVEN_UP * planned) return;
    const took = { bodyBytes: wholeBytes, lanes, seconds, timesPlanned: seconds / planned, thoughtSeconds };
    const of = { jobId, chain, client };
    this.#init.ways?.note({ network, host }, { ...took, ...of, isSeconded: false, isAtLeast: true }, nowMs);
  }

  /**
   * How much of a download's time its way took. Of a client that has gone without a word, or reads no more,
   * its depot hears much later: no more counts than its bytes took by what its leg carried, unless the depot
   * had nothing to send. `undefined` where nobody can say.
   */
  #secondsOnWay(job: PlannedJob, { bodyBytes, seconds }: JobDownload): number | undefined {
    const { limitedBy, goodputBps } = this.#clientLegOf(job) ?? {};
    if (limitedBy === 'idle') return seconds;
    if (limitedBy === undefined || limitedBy === 'receiver' || !goodputBps) return undefined;
    return Math.min(seconds, transferSeconds(bodyBytes, goodputBps));
  }

  /** Has a way's download count for more where the depot behind the entry depot has told that it took no longer. */
  #second(job: PlannedJob, nowMs: number): void {
    const download = this.#unseconded.get(job);
    const [entry, second] = job.chain;
    const told = second === undefined ? undefined : this.#reportOf(job, second);
    if (!download || !told || entry === undefined || second === undefined) return;
    if (![entry, second].every((id) => this.isTrusted(id))) return;
    const sentBytes = told.legs.find(({ peer }) => peer === entry)?.sentBytes ?? 0;
    if (sentBytes < SECONDED.bytes * download.bodyBytes) return;
    if (told.seconds > SECONDED.times * download.seconds + SECONDED.moreSeconds) return;
    this.#unseconded.delete(job);
    const { network, host } = job;
    this.#init.ways?.note({ network, host }, { ...download, isSeconded: true }, nowMs);
  }

  /** Whether the client took longer to read than the network to bring. */
  #isReaderSlow(job: PlannedJob): boolean {
    return this.#clientLegOf(job)?.limitedBy === 'receiver';
  }

  #clientLegOf(job: PlannedJob): JobLeg | undefined {
    const [entry = ''] = job.chain;
    return this.#reportOf(job, entry)?.legs.find(({ peer }) => peer === CLIENT);
  }

  #reportOf({ jobId }: Pick<PlannedJob, 'jobId'>, depot: string): JobReport | undefined {
    return this.#facts.store.newest(JOB_REPORTED, keyOf(jobId, depot))?.value;
  }
}

function depotsOf({ chain, alternatives }: PlannedJob): ReadonlySet<string> {
  return new Set([chain, ...alternatives].flat());
}

/** Whether clients of a job may come to a depot. */
function isEntryOf({ chain, alternatives }: PlannedJob, depot: string): boolean {
  return [chain, ...alternatives].some(([entry]) => entry === depot);
}

/** Whether a depot may tell of this download: as the entry depot of its chain, which the ticket allows. */
function isServedBy(job: PlannedJob, depot: string, download: JobDownload): boolean {
  return download.chain[0] === depot && isEntryOf(job, depot);
}

/**
 * What a download that took so long would have taken at least if its client had got nothing else meanwhile,
 * where that is longer than planned: then its share of the line would have been all of it. `undefined` where
 * it may have been as planned, or not. What ran beside it makes none faster than planned.
 */
function secondsAlone(seconds: number, planned: number, ownShare = 1): number | undefined {
  if (seconds <= planned) return seconds;
  const least = ownShare * seconds;
  return least <= planned && ownShare < HARDLY_BESIDE ? undefined : Math.max(planned, least);
}

/**
 * How long the origin itself took for its first answer, by how long an entry depot waited for that: the
 * question went there and the answer back.
 */
function thought({ legs }: RouteBasis, waitedSeconds = 0): number {
  const behind = legs.slice(1).reduce((sum, { rttMs }) => sum + rttMs, 0) / 1000;
  return Math.max(0, waitedSeconds - behind);
}

/**
 * What was predicted for what a download brought; nothing of one that cannot be compared: in parts, broken
 * off, or over another chain.
 */
function secondsOf(
  { basis, lanes, chain }: PlannedJob,
  { requests, isWhole, bodyBytes, chain: taken, seconds }: JobDownload,
): Pick<Outcome, 'predictedSeconds' | 'directSeconds'> {
  const isSame = isSameChain(taken, chain);
  if (requests !== 1 || !isWhole || !isSame || bodyBytes < LEAST_COMPARED_BYTES || seconds <= 0) return {};
  const direct = directSeconds(basis, bodyBytes);
  return {
    // A file that comes at once may have nothing left that the entry depot sees.
    predictedSeconds: Math.max(1e-3, predictedSeconds(basis, lanes, bodyBytes) - unseenSeconds(basis)),
    ...(direct === undefined ? {} : { directSeconds: direct }),
  };
}
