import { domainOf, type OriginPlace, type OriginUrl } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { Findings } from './findings.ts';
import { folderOf, originOf } from './origin-folder.ts';
import type { Between } from './suspects.ts';

/**
 * How long an origin is remembered that blocks are bad for: long enough for a few downloads, short enough for
 * one that was mended.
 */
const REMEMBERED_MS = 600_000;
/** One that has given a block is asked for blocks at once for so long: what servers do changes seldom. */
const TRUSTED_MS = 86_400_000;
/** Origins, and folders of origins, that are remembered at once, fairly shared by domains. */
const MOST_REMEMBERED = 1_000;

/**
 * Folders of origins that have given a block beside a file that was asked for as a whole, and origins that
 * are better asked for all at once than for block after block: they think before each answer, count requests,
 * or give each answer another tag. By authority, as a download names it: where that leads on to others, it is
 * the one that is known when the first question is asked.
 */
export class BlockBook {
  readonly #nowMs: () => number;
  readonly #unfit: Findings;
  readonly #fitAtMs = this.#timesOfTrust();
  /** When no connection for a trial stood, of origins of which none has since. */
  readonly #missedAtMs = new FairMap<number>(MOST_REMEMBERED, undefined, (atMs) => !this.#isLately(atMs));
  /** When several networks had met that blocks were bad for an origin: what fitted before counts no more. */
  readonly #agreedAtMs = this.#timesOfTrust();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#unfit = new Findings({ nowMs, most: MOST_REMEMBERED, lifeMs: REMEMBERED_MS });
  }

  /** Whether an origin has to be asked for all at once, over these depots for clients of this network. */
  isUnfit(place: OriginPlace, network: string, between: Between): boolean {
    return this.#unfit.has(originOf(place), network, between);
  }

  /**
   * Whether an origin is known to give blocks of files like this one. The first block of a link that is good
   * for one request would be all that ever comes of it; such links are a folder's, or have a query.
   */
  isFit(url: OriginUrl): boolean {
    const folder = folderOf(url);
    const fitAtMs = folder === undefined ? undefined : this.#fitAtMs.get(folder);
    const agreedAtMs = this.#agreedAtMs.get(originOf(url)) ?? Number.NEGATIVE_INFINITY;
    return fitAtMs !== undefined && fitAtMs > agreedAtMs && this.#isTrusted(fitAtMs);
  }

  /** Takes note of a file of which a block came beside the whole. */
  noteFit(url: OriginUrl): void {
    const folder = folderOf(url);
    if (folder !== undefined) this.#fitAtMs.set(folder, this.#nowMs(), domainOf(url.host));
  }

  /**
   * Takes note of an origin that blocks were bad for, for a client of this network; `between`: depots that
   * may have caused it.
   */
  noteUnfit(place: OriginPlace, network: string, between: Between): void {
    const [origin, domain] = [originOf(place), domainOf(place.host)];
    if (this.#unfit.note(origin, domain, network, between))
      this.#agreedAtMs.set(origin, this.#nowMs(), domain);
  }

  /**
   * Takes note of what came of a block that was asked for beside the whole. One connection that does not
   * stand has lost a packet; where a second one in a row does not, the origin drops those that come beside
   * the first, and each download would wait for that.
   */
  noteTrial(
    trial: 'answered' | 'unfit' | 'missed' | 'untold',
    place: OriginPlace,
    network: string,
    between: Between,
  ): void {
    if (trial === 'untold') return;
    const [origin, domain] = [originOf(place), domainOf(place.host)];
    const hasMissed = this.#isLately(this.#missedAtMs.get(origin));
    if (trial === 'missed' && !hasMissed) this.#missedAtMs.set(origin, this.#nowMs(), domain);
    else this.#missedAtMs.delete(origin);
    if (trial === 'unfit' || (trial === 'missed' && hasMissed)) this.noteUnfit(place, network, between);
  }

  #isLately(atMs: number | undefined): boolean {
    return atMs !== undefined && this.#nowMs() - atMs < REMEMBERED_MS;
  }

  #timesOfTrust(): FairMap<number> {
    return new FairMap(MOST_REMEMBERED, undefined, (atMs) => !this.#isTrusted(atMs));
  }

  #isTrusted(atMs: number): boolean {
    return this.#nowMs() - atMs < TRUSTED_MS;
  }
}
