import { ticketPhase } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import type { Job } from '../../jobs/job-memory.ts';
import type { Target } from '../../tickets/target.ts';

/** Where a file came from: an address that redirects led to, and by whose leave. */
type LastTarget = Pick<Target, 'ticket' | 'url'>;

/** Jobs of which is remembered where redirects led: those whose clients may come back for the rest. */
const MOST_TARGETS = 4_000;
/** Characters of their addresses and tickets; what is read of a ticket takes some times as much memory as its text. */
const MOST_TARGET_CHARS = 4_000_000;

/**
 * Where each job's address led when it gave a body last. A client that goes on with a download is to meet the
 * same server, as it would directly: a redirector may name another one each time, which has another version.
 * Of the client network that has most of them those not used for the longest time are forgotten first.
 */
export class LastTargets {
  readonly #byJob: FairMap<LastTarget>;

  constructor(nowSeconds: () => number) {
    this.#byJob = new FairMap(
      MOST_TARGETS,
      { most: MOST_TARGET_CHARS, weigh: (_, target) => charsOf(target) },
      ({ ticket }) => ticketPhase(ticket.claims, nowSeconds()) === 'over',
    );
  }

  /**
   * Where it led; `undefined` where it led nowhere else, nobody knows it any more, or the job has been
   * forgotten and begins anew.
   */
  recall({ id, hasWorked }: Job): LastTarget | undefined {
    return hasWorked ? this.#byJob.get(id) : undefined;
  }

  /** Notes that what was asked for at `first` came from `last`. */
  note({ id }: Job, first: Target, { ticket, url }: Target): void {
    // Without a redirect there is nothing to remember.
    if (url === first.url) this.#byJob.delete(id);
    else this.#byJob.set(id, { ticket, url }, first.client);
  }
}

function charsOf({ ticket, url: { host, path, query } }: LastTarget): number {
  return ticket.text.length + host.length + path.length + (query?.length ?? 0);
}
