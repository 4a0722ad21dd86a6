import type { LinkReport } from '@longhaul/shared';
import { fitsLegFigures } from '../../estimates/fits-leg-figures.ts';
import {
  type LegFigures,
  LINK_LIVES,
  legFiguresSchema,
  MEASURED_LIFE_MS,
  withReport,
} from '../../estimates/leg-figures.ts';
import { areNear } from '../../estimates/near-leg-figures.ts';
import { shortLegFigures } from '../../estimates/short-leg-figures.ts';
import { type Fact, type FactKind, isYounger } from '../../facts/fact.ts';
import type { Facts } from '../../facts/facts.ts';
import { SpeakerRoom } from '../../facts/speaker-room.ts';
import { firstOf, keyOf, partsOf, secondOf } from '../../facts/two-part-keys.ts';
import { LinkExpectations } from './link-expectations.ts';
import { RttDisputes } from './rtt-disputes.ts';
import type { Direction } from './two-directions.ts';

/** Links whose measurements are kept, each direction for itself: 1000 depots with 50 neighbours each. */
const MOST_LINKS = 100_000;

/**
 * What a depot has measured of its link to another one, by `<this depot> <other depot>`. It sends, but for
 * the round trip.
 */
const LINK_MEASURED = {
  name: 'link-measured',
  schema: legFiguresSchema,
  fits: fitsLegFigures,
  isNear: areNear,
  toTell: shortLegFigures,
  keys: /^\S{1,64} \S{1,64}$/,
  most: MOST_LINKS,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const MEASURED_FACTS: readonly FactKind<unknown>[] = [LINK_MEASURED];

type Measured = Fact<LegFigures>;

/**
 * The links between depots as these have measured them, each direction for itself; a replica of facts. What
 * they say together of other links, and of each other, is kept up to date beside it.
 */
export class MeasuredLinks {
  /** By sender and receiver. */
  readonly #measured = new Map<string, Measured>();
  readonly expectations = new LinkExpectations();
  readonly #disputes = new RttDisputes();
  readonly #facts: Facts;
  readonly #room: SpeakerRoom<LegFigures>;
  readonly #onChange: (from: string, to: string, nowMs: number) => void;

  /** `onChange` is told of each direction of which something else is known. */
  constructor(facts: Facts, onChange: (from: string, to: string, nowMs: number) => void) {
    this.#facts = facts;
    this.#onChange = onChange;
    this.#room = new SpeakerRoom({ facts, kind: LINK_MEASURED });
    facts.store.watch(LINK_MEASURED, (now, before) => this.#refresh(now, before));
  }

  /** Takes in what the depot `from` measured on its connections to another depot since its last report. */
  report(from: string, report: LinkReport, nowMs: number): void {
    this.#room.update(keyOf(from, report.to), nowMs, (known, passedMs) => {
      const expectedBps = this.expectations.goodput(report.to, from, report.rttMs).value;
      const isBound = expectedBps < this.expectations.usual(report.rttMs).value;
      return withReport(known, report, passedMs, LINK_LIVES, { expectedBps, isBound });
    });
  }

  /** Forgets what a depot has measured: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#forget((key) => firstOf(key) === depot);
  }

  /** Forgets what others have measured of their links to a depot: it is somewhere else now. */
  forgetTowards(depot: string): void {
    this.#forget((key) => secondOf(key) === depot);
  }

  /** What `from` has measured of its link to another depot. */
  of(from: string, to: string): LegFigures | undefined {
    return this.#measured.get(keyOf(from, to))?.value;
  }

  /** What both ends have measured of the leg on which `other` sends to `one`, the sender first. */
  directions(one: string, other: string, nowMs: number): readonly Direction[] {
    const forward = this.#measured.get(keyOf(other, one));
    const backward = this.#measured.get(keyOf(one, other));
    if (!forward && !backward) return NO_DIRECTIONS;
    const directionOf = ({ value, timeMs }: Measured, isBackward: boolean) => ({
      value,
      passedMs: nowMs - timeMs,
      isBackward,
    });
    return [
      ...(forward ? [directionOf(forward, false)] : []),
      ...(backward ? [directionOf(backward, true)] : []),
    ];
  }

  /** Senders and receivers of all directions of which anything is known. */
  *pairs(): Iterable<readonly [from: string, to: string]> {
    for (const key of this.#measured.keys()) yield partsOf(key);
  }

  /** Whether the round trips that a depot tells are those that its neighbours tell. */
  isBelieved(depot: string): boolean {
    return this.#disputes.isBelieved(depot);
  }

  #forget(isForgotten: (key: string) => boolean): void {
    const keys = [...this.#measured.keys()].filter(isForgotten);
    for (const key of keys) this.#facts.store.forget(LINK_MEASURED, key);
  }

  /** Takes over what the newest source says of a direction. */
  #refresh(said: Measured | undefined, saidBefore: Measured | undefined): void {
    const changed = said ?? saidBefore;
    if (!changed) return;
    const { key } = changed;
    const [from, to] = partsOf(key);
    const before = this.#measured.get(key);
    // What is younger than the newest is the newest: no source need be looked up.
    const isNewest = said && (!before || isYounger(said, before));
    const now = isNewest ? said : this.#facts.store.newest(LINK_MEASURED, key);
    this.expectations.replace(from, to, before?.value, now?.value);
    if (now) this.#measured.set(key, now);
    else this.#measured.delete(key);
    const backward = this.of(to, from)?.rtt;
    this.#disputes.note(from, to, now && backward && { oneMs: now.value.rtt.value, otherMs: backward.value });
    this.#onChange(from, to, changed.timeMs);
  }
}

const NO_DIRECTIONS: readonly Direction[] = [];
