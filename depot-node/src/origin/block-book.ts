import { domainOf, formatAuthority, type OriginPlace, type OriginUrl } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { type Between, isExpected, suspectsOf } from './suspects.ts';

/** How long an origin is remembered that blocks are bad for: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** One that has given a block is asked for blocks at once for so long: what servers do changes seldom. */
const TRUSTED_MS = 86_400_000;
/** Origins, and folders of origins, that are remembered at once, fairly shared by domains. */
const MOST_REMEMBERED = 1_000;
/** People's folders are shorter, and so many may be remembered. */
const LONGEST_FOLDER_CHARS = 500;

/** An origin that blocks were bad for. */
interface Unfit {
  readonly atMs: number;
  /** The client network that met it last. */
  readonly network: string;
  /** Clients of another network have met it as well. */
  readonly isAgreed: boolean;
  readonly suspects: Between;
}

/**
 * Folders of origins that have given a block beside a file that was asked for as a whole, and origins that are better asked for all at once than for block after block: they think
 * before each answer, count requests, or give each answer another tag. By authority, as a download names it: where that leads on to others, it is the one that is known
 * when the first question is asked. What one client network has met counts for others only when a second one has met it too: who asks for a file that nobody has, or
 * with conditions of his own, gets odd answers from good origins. What was met over one depot alone, which may keep answers back, counts over that depot alone.
 */
export class BlockBook {
  readonly #nowMs: () => number;
  readonly #unfit = this.#mapWhile<Unfit>(({ atMs }) => this.#isLately(atMs, REMEMBERED_MS));
  readonly #fitAtMs = this.#mapWhile<number>((atMs) => this.#isLately(atMs, TRUSTED_MS));
  /** When several networks had met that blocks were bad for an origin: what fitted before counts no more. */
  readonly #agreedAtMs = this.#mapWhile<number>((atMs) => this.#isLately(atMs, TRUSTED_MS));

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether an origin has to be asked for all at once, over these depots for clients of this network. */
  isUnfit(place: OriginPlace, network: string, between: Between): boolean {
    const unfit = this.#latelyUnfit(place);
    const isKnown = unfit !== undefined && (unfit.isAgreed || unfit.network === network);
    return isKnown && isExpected(unfit.suspects, between);
  }

  /**
   * Whether an origin is known to give blocks of files like this one. The first block of a link that is good for one request would be all
   * that ever comes of it; such links are a folder's, or have a query.
   */
  isFit(url: OriginUrl): boolean {
    const folder = folderOf(url);
    const fitAtMs = folder === undefined ? undefined : this.#fitAtMs.get(folder);
    const agreedAtMs = this.#agreedAtMs.get(originOf(url)) ?? Number.NEGATIVE_INFINITY;
    return fitAtMs !== undefined && fitAtMs > agreedAtMs && this.#isLately(fitAtMs, TRUSTED_MS);
  }

  /** Takes note of a file of which a block came beside the whole. */
  noteFit(url: OriginUrl): void {
    const folder = folderOf(url);
    if (folder !== undefined) this.#fitAtMs.set(folder, this.#nowMs(), domainOf(url.host));
  }

  /** Takes note of an origin that blocks were bad for, for a client of this network; `between`: depots that may have caused it. */
  noteUnfit(place: OriginPlace, network: string, between: Between): void {
    const before = this.#latelyUnfit(place);
    const isAgreed = before !== undefined && (before.isAgreed || before.network !== network);
    const [origin, domain] = [originOf(place), domainOf(place.host)];
    const suspects = suspectsOf(before?.suspects, between);
    this.#unfit.set(origin, { atMs: this.#nowMs(), network, isAgreed, suspects }, domain);
    if (isAgreed && suspects.length === 0) this.#agreedAtMs.set(origin, this.#nowMs(), domain);
  }

  #mapWhile<Value>(counts: (value: Value) => boolean): FairMap<Value> {
    return new FairMap(MOST_REMEMBERED, undefined, (value) => !counts(value));
  }

  #latelyUnfit(place: OriginPlace): Unfit | undefined {
    const unfit = this.#unfit.get(originOf(place));
    return this.#isLately(unfit?.atMs, REMEMBERED_MS) ? unfit : undefined;
  }

  #isLately(notedAtMs: number | undefined, lifeMs: number): boolean {
    return notedAtMs !== undefined && this.#nowMs() - notedAtMs < lifeMs;
  }
}

function originOf({ scheme, host, port }: OriginPlace): string {
  return `${scheme} ${formatAuthority(host, port)}`;
}

/** The folder of a file; `undefined` where a query, or a path of such length, says which file it is, or who may have it. */
function folderOf(url: OriginUrl): string | undefined {
  const { path, query } = url;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return query === null && folder.length <= LONGEST_FOLDER_CHARS ? originOf(url) + folder : undefined;
}
