import {
  type ErrorCode,
  LonghaulError,
  ok,
  type Result,
  refuse,
  type TicketClaims,
  ticketPhase,
} from '@longhaul/shared';
import { FairRoom, LruMap } from '@longhaul/shared/service';
import { type Arrival, takerOf } from './arrival.ts';
import { ClientFlows } from './client-flows.ts';
import { type CountedJob, type Job, JobMemory } from './job-memory.ts';
import { RecentRate } from './recent-rate.ts';
import { Crowds, FairCrowds, RateLimits } from './shared-limits.ts';

/** Of all transfers, those that clients may have: the rest is kept for what other depots send on. */
const MOST_OF_CLIENTS = 0.75;
/** What was admitted so lately is about to carry bytes: its way is made meanwhile. */
const BEGINNING_SECONDS = 5;
/**
 * Beginnings of one client network or neighbour that count so: whoever begins again and again, and reads
 * nothing, must not seem to move.
 */
const BEGINNINGS_APART_SECONDS = 60;
/**
 * Networks and neighbours of which is remembered when they began: as many as may have begun within that time
 * at all.
 */
const MOST_BEGINNERS = 1_000;
/**
 * All transfers together carry more over ten seconds than this, bits per second, or stand still: what is
 * slower a test of a link holds up for seconds only.
 */
const STILL_BPS = 1_000_000;
/**
 * A connection that has brought so much, as much as the usual least block of a lane, is none of a ticket's
 * budget: there are origins that close after each answer, and files of any number of blocks.
 */
const FREE_FROM_BYTES = 65_536;
/** The key of all transfers' common rate. */
const ALL = 'all';

export interface JobTableInit {
  readonly maxTransfers: number;
  readonly maxPerJob: number;
  /** Of one client address (/64 of IPv6). */
  readonly maxPerClient: number;
  /** Of one client network (/24 or /48). */
  readonly maxPerNetwork: number;
  readonly maxPerOrigin: number;
  /** Bits per second relayed over the last ten seconds, beyond which nothing new is admitted. */
  readonly maxClientBps: number | undefined;
  readonly maxOriginBps: number | undefined;
  readonly maxJobs: number;
  /** Ends all that runs. */
  readonly shutdown: AbortSignal;
  /** Unix seconds, by which tickets live. */
  readonly nowSeconds: () => number;
  /** Whole seconds by a clock that nobody sets. */
  readonly steadySeconds: () => number;
}

/** A connection that was admitted; to be released when it has ended. */
export interface Admission {
  readonly job: Job;
  /** Counts what was relayed towards the client: against the ticket's budget and the rates of client and origin. */
  readonly note: (bytes: number) => void;
  /** Of all that has gone to its client since it was admitted, its share, from 0 to 1; 1 for other depots. */
  readonly ownShare: () => number;
  /**
   * Aborts with `budget-used-up` when all connections of the job together have used the ticket's bytes, and
   * when the depot ends. One for all tickets of the job that are good for as much: to join a signal that
   * lives as long as the depot with one of each connection costs more than all else that is done to admit it.
   */
  readonly stop: AbortSignal;
  readonly release: () => void;
}

/** What a connection counts for beside its job. */
interface Keys {
  /** Whose share it takes where many have one. */
  readonly taker: string;
  /** A client's address and network. */
  readonly client: { readonly address: string; readonly network: string } | undefined;
  /** A hash that stands for the origin's name. */
  readonly origin: string | undefined;
}

/** Knows which jobs have started here and holds them to their tickets' time and budgets. */
export class JobTable {
  readonly #init: JobTableInit;
  readonly #jobs: JobMemory;
  readonly #bootedAtSteadySeconds: number;
  readonly #transfers: FairRoom;
  #clientTransfers = 0;
  readonly #clients: Crowds;
  readonly #flows = new ClientFlows();
  readonly #networks: Crowds;
  readonly #origins: FairCrowds;
  readonly #clientRates: RateLimits;
  readonly #originRates: RateLimits;
  readonly #rate: RecentRate;
  #relayedBytes = 0;
  #begunAtSeconds = Number.NEGATIVE_INFINITY;
  readonly #begunBy = new LruMap<string, number>(MOST_BEGINNERS);
  #waitingForIdle: (() => void)[] = [];

  constructor(init: JobTableInit) {
    const { steadySeconds, shutdown } = init;
    this.#init = init;
    this.#jobs = new JobMemory(init.maxJobs);
    this.#bootedAtSteadySeconds = steadySeconds();
    this.#transfers = new FairRoom(init.maxTransfers);
    this.#clients = new Crowds(init.maxPerClient);
    this.#networks = new Crowds(init.maxPerNetwork);
    this.#origins = new FairCrowds(init.maxPerOrigin);
    this.#clientRates = new RateLimits(init.maxClientBps, steadySeconds);
    this.#originRates = new RateLimits(init.maxOriginBps, steadySeconds);
    this.#rate = new RecentRate(steadySeconds);
    shutdown.addEventListener('abort', () => {
      for (const { stops } of this.#jobs.all())
        for (const stop of stops.values()) stop.abort(shutdown.reason);
    });
  }

  /** Transfers and tunnels running now. */
  get active(): number {
    return this.#transfers.used;
  }

  /** What was relayed towards clients since the start, and what came again for repairs. */
  get relayedBytes(): number {
    return this.#relayedBytes;
  }

  /**
   * Whether what runs carries bytes, or has just begun: a client that reads nothing may hold its transfer for
   * hours.
   */
  get isMoving(): boolean {
    if (this.active === 0) return false;
    const sinceSeconds = this.#init.steadySeconds() - this.#begunAtSeconds;
    return sinceSeconds < BEGINNING_SECONDS || this.#rate.of(ALL) > STILL_BPS;
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.active === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForIdle.push(resolve));
  }

  /**
   * Admits one more connection of a ticket's job, or says why not. A job that started here is served until
   * the ticket's end of life; after the last start a job that is not known here is not begun - unless this
   * depot has restarted since the ticket was issued, or it is one of an entry group, and the client resumes,
   * or the entry depot has decided already.
   */
  admit(claims: TicketClaims, arrival: Arrival): Result<Admission> {
    const untimely = this.untimely(claims, arrival);
    if (untimely) return refuse(untimely);
    const full = this.fullFor(claims, arrival);
    if (full) return refuse(full);
    const keys = keysOf(claims, arrival);
    const job = this.#jobs.use(claims, keys.taker);
    if (!job) return refuse('depot-full');
    if (job.connections >= claims.budgetConnections || job.bytes >= claims.budgetBytes)
      return refuse('budget-used-up');
    const stop = this.#stopOf(job, claims.budgetBytes);
    job.connections += 1;
    this.#noteBeginning(keys.taker);
    this.#count(job, keys, 1);
    const flow =
      arrival.from === 'client' ? this.#flows.begin(arrival.address, job.id, arrival.hasRange) : undefined;
    let ownBytes = 0;
    return ok({
      job,
      note: (bytes) => {
        ownBytes += bytes;
        flow?.note(bytes);
        this.#note(job, keys, bytes);
        if (job.bytes >= claims.budgetBytes) stop.abort(new LonghaulError('budget-used-up'));
      },
      ownShare: () => flow?.share() ?? 1,
      stop: stop.signal,
      release: () => {
        if (ownBytes >= FREE_FROM_BYTES) job.connections -= 1;
        flow?.end();
        this.#count(job, keys, -1);
      },
    });
  }

  #stopOf({ stops }: CountedJob, budgetBytes: number): AbortController {
    const stop = stops.get(budgetBytes) ?? new AbortController();
    stops.set(budgetBytes, stop);
    const { shutdown } = this.#init;
    if (shutdown.aborted) stop.abort(shutdown.reason);
    return stop;
  }

  /** Why there is no room for one more connection of a job; `undefined` while there is. Nothing is taken. */
  fullFor(claims: TicketClaims, arrival: Arrival): ErrorCode | undefined {
    const known = this.#jobs.get(claims.jobId);
    const keys = keysOf(claims, arrival);
    return this.#refuseCrowd(known, keys) ?? (goesOn(known, arrival) ? undefined : this.#refuseRate(keys));
  }

  /** Whether a job has begun here. */
  knows(jobId: string): boolean {
    return this.#jobs.get(jobId) !== undefined;
  }

  /** Why a ticket is good for nothing just now, whatever it is shown for; `undefined` while it is. */
  untimely(claims: TicketClaims, arrival: Arrival): ErrorCode | undefined {
    const phase = ticketPhase(claims, this.#init.nowSeconds());
    if (phase === 'future') return 'ticket-not-yet-valid';
    if (phase === 'over') return 'ticket-expired';
    return phase === 'start' || this.knows(claims.jobId) || this.#mayHaveStarted(claims, arrival)
      ? undefined
      : 'ticket-start-over';
  }

  /** Jobs issued up to then may have started here and been forgotten: before a restart, or to make room. */
  get #forgottenUntil(): number {
    const { nowSeconds, steadySeconds } = this.#init;
    // Not noted at the start: the clock may have been wrong then, as of machines that start without a network.
    const bootedAt = nowSeconds() - (steadySeconds() - this.#bootedAtSteadySeconds);
    return Math.max(bootedAt - 1, this.#jobs.forgottenUntil);
  }

  #mayHaveStarted(claims: TicketClaims, arrival: Arrival): boolean {
    if (arrival.from === 'depot') return true;
    // Of an entry group another depot may have started it.
    const isOfGroup = claims.group !== undefined;
    return arrival.hasRange && (isOfGroup || claims.issuedAt <= this.#forgottenUntil);
  }

  #refuseCrowd(known: Job | undefined, { taker, client, origin }: Keys): ErrorCode | undefined {
    const { maxTransfers, maxPerJob } = this.#init;
    const isFullOfClients = this.#clientTransfers >= Math.ceil(maxTransfers * MOST_OF_CLIENTS);
    if (!this.#transfers.hasRoomFor(taker, 1) || (client && isFullOfClients)) return 'depot-full';
    if ((known?.active ?? 0) >= maxPerJob) return 'job-busy';
    if (client && (this.#clients.isFull(client.address) || this.#networks.isFull(client.network)))
      return 'client-busy';
    return origin !== undefined && this.#origins.isFullFor(origin, taker) ? 'origin-crowded' : undefined;
  }

  #refuseRate({ client, origin }: Keys): ErrorCode | undefined {
    if (client && this.#clientRates.isOver(client.address)) return 'client-rate-limited';
    return origin !== undefined && this.#originRates.isOver(origin) ? 'origin-rate-limited' : undefined;
  }

  #noteBeginning(taker: string): void {
    const atSeconds = this.#init.steadySeconds();
    const before = this.#begunBy.get(taker);
    if (before !== undefined && atSeconds - before < BEGINNINGS_APART_SECONDS) return;
    this.#begunBy.set(taker, atSeconds);
    this.#begunAtSeconds = atSeconds;
  }

  #note(job: CountedJob, { client, origin }: Keys, bytes: number): void {
    job.bytes += bytes;
    this.#relayedBytes += bytes;
    this.#rate.note(ALL, bytes);
    if (client) this.#clientRates.note(client.address, bytes);
    if (origin !== undefined) this.#originRates.note(origin, bytes);
  }

  #count(job: CountedJob, { taker, client, origin }: Keys, change: 1 | -1): void {
    job.active += change;
    if (job.active === 0) job.stops.clear();
    if (change === 1) this.#transfers.take(taker, 1);
    else this.#transfers.giveBack(taker, 1);
    if (client) {
      this.#clientTransfers += change;
      this.#clients.change(client.address, change);
      this.#networks.change(client.network, change);
    }
    if (origin !== undefined) this.#origins.change(origin, taker, change);
    if (this.active === 0) for (const resolve of this.#waitingForIdle.splice(0)) resolve();
  }
}

/** Whoever dials the origin counts for it; so does the entry depot, which may have to. */
function keysOf({ authorityHash }: TicketClaims, arrival: Arrival): Keys {
  const taker = takerOf(arrival);
  if (arrival.from === 'client') return { taker, client: arrival, origin: authorityHash };
  return { taker, client: undefined, origin: arrival.isExit ? authorityHash : undefined };
}

/**
 * Whether a connection is a running transfer's rather than a new one, which rates do not stop: a client resumes what
 * has nothing else running, or the entry depot, which has decided already, repairs a job or gives it one more lane.
 */
function goesOn(known: Job | undefined, arrival: Arrival): boolean {
  if (!known) return false;
  return arrival.from === 'depot' || (arrival.hasRange && known.active === 0);
}
