import { formatAuthority, type OriginUrl } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** Hosts that one download may be sent to: mirrors and their mirrors, more than any has, and fewer than a scan needs. */
const MOST_AUTHORITIES = 16;
/** Jobs of which is remembered where they were sent. */
const MOST_JOBS = 10_000;

/** To how many hosts the redirects of one job lead, as its entry depots tell. */
export class JobAuthorities {
  readonly #byJob = new LruMap<string, Set<string>>(MOST_JOBS);

  /** Whether a job may be sent to one host more, or to one that it knows. */
  mayReach(jobId: string, { host, port }: OriginUrl): boolean {
    const known = this.#byJob.get(jobId) ?? new Set();
    this.#byJob.set(jobId, known);
    const authority = formatAuthority(host, port);
    if (known.has(authority)) return true;
    if (known.size >= MOST_AUTHORITIES) return false;
    known.add(authority);
    return true;
  }
}
