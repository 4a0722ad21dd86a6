import { DEFAULT_PORTS, formatAuthority, type OriginUrl } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/**
 * Hosts that one download may be sent to, each port beside those of http and https counted as one more: as
 * many as mirrors and their mirrors have, and fewer than a scan needs.
 */
const MOST_AUTHORITIES = 16;
/** Jobs of which is remembered where they were sent. */
const MOST_JOBS = 10_000;

/** To how many hosts the redirects of one job lead, as its entry depots tell. */
export class JobAuthorities {
  readonly #byJob = new LruMap<string, Set<string>>(MOST_JOBS);

  /** Whether a job may be sent to one host more, or to one that it knows. */
  mayReach(jobId: string, url: OriginUrl): boolean {
    const known = this.#byJob.get(jobId) ?? new Set();
    this.#byJob.set(jobId, known);
    const counted = countedAs(url);
    if (known.has(counted)) return true;
    if (known.size >= MOST_AUTHORITIES) return false;
    known.add(counted);
    return true;
  }
}

/** A host that leads from http to https is one. Other ports count: a scan of one host's ports is a scan, too. */
function countedAs({ host, port }: OriginUrl): string {
  const isOfWeb = port === DEFAULT_PORTS.http || port === DEFAULT_PORTS.https;
  return isOfWeb ? host : formatAuthority(host, port);
}
