import { domainOf, parseAuthority } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { type Between, isExpected, suspectsOf } from './suspects.ts';

/** How long an origin is remembered: long enough for a few downloads, short enough for one that was mended. */
const REMEMBERED_MS = 600_000;
/** Origins that are remembered at once, fairly shared by domains. */
const MOST_REMEMBERED = 1_000;

/**
 * Connections of one origin that break within answers are no accident from so many on, so long apart at
 * least, within so long: a depot that ends takes all of them along at once.
 */
const BREAKS = { most: 3, apartMs: 1_000, withinMs: 60_000 } as const;

/** That an origin could not be asked ahead. */
interface Unfit {
  readonly atMs: number;
  readonly suspects: Between;
}

interface Break {
  readonly atMs: number;
  readonly between: Between;
}

/**
 * Which origins have answered requests that were sent ahead, and which have shown that they cannot: those are
 * asked one thing at a time for a while. By authority, because servers behind one name are seldom told apart.
 * A depot between that breaks or garbles what it carries looks as such an origin does: what was met over one
 * depot alone counts over that depot alone.
 */
export class AheadBook {
  readonly #nowMs: () => number;
  readonly #onNoted: (host: string, isFit: boolean) => void;
  readonly #fitAtMs = new FairMap<number>(MOST_REMEMBERED, undefined, (atMs) => !this.#isLately(atMs));
  readonly #unfit = new FairMap<Unfit>(MOST_REMEMBERED, undefined, ({ atMs }) => !this.#isLately(atMs));
  /** Connections that broke, by origin. */
  readonly #breaks = new FairMap<readonly Break[]>(
    MOST_REMEMBERED,
    undefined,
    (breaks) => !this.#isLately(breaks.at(-1)?.atMs),
  );

  /** @param onNoted is told what an origin itself has shown. */
  constructor(nowMs: () => number, onNoted: (host: string, isFit: boolean) => void = () => undefined) {
    this.#nowMs = nowMs;
    this.#onNoted = onNoted;
  }

  isFit(authority: string): boolean {
    return (
      this.#isLately(this.#fitAtMs.get(authority)) && this.#latelyUnfit(authority)?.suspects.length !== 0
    );
  }

  /** Whether an origin has to be asked singly over these depots. */
  isUnfit(authority: string, between: Between): boolean {
    const unfit = this.#latelyUnfit(authority);
    return unfit !== undefined && isExpected(unfit.suspects, between);
  }

  /**
   * Takes note of a connection over these depots that broke within an answer while further questions waited.
   * Servers on Node's TLS do so where a question comes while much of an answer waits to be sent. Gives
   * whether it has happened too often for an accident: then the origin is one that has to be asked singly
   * there.
   */
  noteBreak(authority: string, between: Between): boolean {
    const nowMs = this.#nowMs();
    const before = (this.#breaks.get(authority) ?? []).filter(({ atMs }) => nowMs - atMs < BREAKS.withinMs);
    const last = before.at(-1);
    if (last !== undefined && nowMs - last.atMs < BREAKS.apartMs) return false;
    this.#breaks.delete(authority);
    const breaks = [...before, { atMs: nowMs, between }];
    if (breaks.length < BREAKS.most) {
      this.#breaks.set(authority, breaks, domainOf(hostOf(authority)));
      return false;
    }
    const all = breaks.flatMap((one) => [...new Set(one.between)]);
    // One break may be an accident of another way.
    const isSuspect = (depot: string) => all.filter((other) => other === depot).length >= breaks.length - 1;
    this.noteUnfit(authority, [...new Set(all)].filter(isSuspect));
    return true;
  }

  /** Takes note of an origin that has answered what was asked ahead. What it cannot do weighs more. */
  noteFit(authority: string): void {
    const isKnown = this.#isLately(this.#fitAtMs.get(authority));
    if (isKnown || this.#latelyUnfit(authority)?.suspects.length === 0) return;
    const host = hostOf(authority);
    this.#fitAtMs.set(authority, this.#nowMs(), domainOf(host));
    this.#onNoted(host, true);
  }

  /**
   * Takes note of an origin that could not be asked ahead over these depots; none, where they cannot have
   * caused it.
   */
  noteUnfit(authority: string, between: Between): void {
    const suspects = suspectsOf(this.#latelyUnfit(authority)?.suspects, between);
    const host = hostOf(authority);
    this.#unfit.set(authority, { atMs: this.#nowMs(), suspects }, domainOf(host));
    if (suspects.length === 0) this.#onNoted(host, false);
  }

  #latelyUnfit(authority: string): Unfit | undefined {
    const unfit = this.#unfit.get(authority);
    return this.#isLately(unfit?.atMs) ? unfit : undefined;
  }

  #isLately(atMs: number | undefined): boolean {
    return atMs !== undefined && this.#nowMs() - atMs < REMEMBERED_MS;
  }
}

/** The host of an authority, which comes from a URL that was read. */
function hostOf(authority: string): string {
  const place = parseAuthority(authority, null);
  if (!place.ok) throw place.error;
  return place.value.host;
}
