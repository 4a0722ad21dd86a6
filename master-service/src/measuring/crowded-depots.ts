import { LruMap, OrderedMap } from '@longhaul/shared/service';

/** What was told longer ago says nothing of now: busy connections are told of with each heartbeat. */
const NOW_MS = 60_000;
/** So many networks that get far less than they are known to, all at once ... */
const LEAST_NETWORKS = 8;
/**
 * ... and this share of those that are served, and of what they get, have nothing in common but their depot.
 * Fewer may be one busy house, a liar with some prefixes, or a provider's bad evening.
 */
const LEAST_SHARE = 0.5;
/** Networks that are remembered of one depot, about 200 bytes each. */
const MOST_NETWORKS = 256;
/** Depots whose networks are remembered: more than a master knows. */
const MOST_DEPOTS = 2_000;

/** What a network got last. */
interface Served {
  readonly bps: number;
  readonly isSlower: boolean;
  readonly atMs: number;
}

/**
 * The depots whose own lines are crowded: most of the networks that they serve now get far less than they are
 * known to. One that does so alone has another line that is slow; all of them at once say nothing of
 * themselves.
 */
export class CrowdedDepots {
  readonly #depots = new LruMap<string, ServedNetworks>(MOST_DEPOTS);

  /** Takes note of what a depot sent to a network that was known before, and whether that is far less. */
  note(depot: string, prefix: string, served: Served): void {
    const networks = this.#depots.get(depot) ?? new ServedNetworks();
    this.#depots.set(depot, networks);
    networks.note(prefix, served);
  }

  /**
   * What a depot sends to each of those to which it sends far less than it could, bits per second;
   * `undefined` where its line is not crowded.
   */
  eachBps(depot: string, nowMs: number): number | undefined {
    return this.#depots.get(depot)?.eachBps(nowMs);
  }
}

/** The networks that one depot serves now. */
class ServedNetworks {
  readonly #served = new OrderedMap<string, Served>();
  #slower = 0;
  #slowerBps = 0;
  #allBps = 0;

  note(prefix: string, served: Served): void {
    this.#count(this.#served.setLast(prefix, served), -1);
    this.#count(served, 1);
    if (this.#served.size > MOST_NETWORKS) this.#count(this.#served.deleteOldest(), -1);
  }

  eachBps(nowMs: number): number | undefined {
    this.#forgetPast(nowMs);
    const isMost =
      this.#slower >= LEAST_SHARE * this.#served.size && this.#slowerBps >= LEAST_SHARE * this.#allBps;
    const isCrowded = this.#slower >= LEAST_NETWORKS && isMost;
    return isCrowded ? this.#slowerBps / this.#slower : undefined;
  }

  #forgetPast(nowMs: number): void {
    for (let { oldest } = this.#served; oldest !== undefined; { oldest } = this.#served) {
      if (Math.abs(nowMs - (this.#served.get(oldest)?.atMs ?? 0)) < NOW_MS) return;
      this.#count(this.#served.deleteOldest(), -1);
    }
  }

  #count(served: Served | undefined, times: 1 | -1): void {
    if (!served) return;
    const { bps, isSlower } = served;
    // What was added up leaves no rest behind.
    this.#allBps = this.#served.size === 0 ? 0 : this.#allBps + times * bps;
    if (!isSlower) return;
    this.#slower += times;
    this.#slowerBps = this.#slower === 0 ? 0 : this.#slowerBps + times * bps;
  }
}
