import type { Chain } from '@longhaul/shared';
import { FairRoom, OrderedMap } from '@longhaul/shared/service';
import type { RouteBasis } from '../planning/decision/route-basis.ts';

/** Jobs whose plans are remembered of one client network, about a kilobyte each; of all together twice as many. */
const MOST_JOBS = 10_000;

/** A plan that was given out, as far as what comes of it has to stand beside it. */
export interface PlannedJob {
  readonly jobId: string;
  /** Empty for direct. */
  readonly chain: Chain;
  readonly alternatives: readonly Chain[];
  /** Whether the client chose the chain by itself. */
  readonly isAsked: boolean;
  readonly lanes: number;
  readonly basis: RouteBasis;
  /** The client's network: its /24, or /48 of IPv6. */
  readonly network: string;
  /** The origin's name. */
  readonly host: string;
  /** A mark of the client, by which nobody finds it; left out where nobody told. */
  readonly client?: string;
  /** Of the file; left out where it was assumed. */
  readonly sizeBytes?: number;
}

/** The plans that this master gave out lately. Who has many forgets his own. */
export class RecentJobs {
  readonly #jobs = new OrderedMap<string, PlannedJob>();
  readonly #byNetwork = new Map<string, OrderedMap<string, PlannedJob>>();
  readonly #room: FairRoom;

  constructor(most = MOST_JOBS) {
    // One alone gets half of a room.
    this.#room = new FairRoom(2 * most);
  }

  get size(): number {
    return this.#jobs.size;
  }

  add(job: PlannedJob): void {
    const { network, jobId } = job;
    while (!this.#room.take(network, 1))
      this.#forget(this.#byNetwork.get(network)?.oldest ?? this.#jobs.oldest);
    this.#jobs.set(jobId, job);
    const own = this.#byNetwork.get(network) ?? new OrderedMap<string, PlannedJob>();
    this.#byNetwork.set(network, own);
    own.set(jobId, job);
  }

  get(jobId: string): PlannedJob | undefined {
    return this.#jobs.get(jobId);
  }

  /** The newest come last. */
  all(): Iterable<PlannedJob> {
    return this.#jobs.values();
  }

  #forget(jobId: string | undefined): void {
    const job = jobId === undefined ? undefined : this.#jobs.get(jobId);
    if (!job) return;
    this.#jobs.delete(job.jobId);
    const own = this.#byNetwork.get(job.network);
    own?.delete(job.jobId);
    if (own?.size === 0) this.#byNetwork.delete(job.network);
    this.#room.giveBack(job.network, 1);
  }
}
