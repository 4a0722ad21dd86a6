import { estimateOf, type Figure, figureSchema, observed, type Prior } from '../estimates/figure.ts';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { keyOf } from '../facts/two-part-keys.ts';
import type { Pair } from '../planning/plans/learned-of-pairs.ts';

/** Pairs that are remembered, some hundred bytes each. */
const MOST_PAIRS = 20_000;
/** After so long e times less is left of what was seen: lines and servers have their busy hours. */
const LIFE_MS = 21_600_000;
/** Nothing is left of what is older. */
const KEPT_MS = 7 * 86_400_000;
/** One download says at most that it took so many times as long, or as short: more is an accident. */
const MOST_SAID = 4;
/** A prediction is never changed by more: what is further off is wrong in another way. */
const MOST_CHANGED = 2;
/** What predictions are off from one pair to the next, and from one download to the next. */
const USUAL: Prior = { value: 1, between: 0.2, within: 0.3, source: 'assumed' };

/** How the keys of facts about a pair look: `<network> <origin>`. */
export const PAIR_KEYS = /^[0-9a-f.:/]{1,64} [a-z0-9.:_-]{1,255}$/;

/** How many times as long downloads took as was predicted of them, by `<network> <origin>`. */
const PAIR_CALIBRATED = {
  name: 'pair-calibrated',
  schema: figureSchema,
  keys: PAIR_KEYS,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: KEPT_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const CALIBRATION_FACTS = [PAIR_CALIBRATED];

/**
 * What the model leaves of a pair of ends: a line that is slower in the evening, a server that thinks for
 * long. It changes what is predicted, and no decision: all ways of a pair have it in common.
 */
export class Calibrations {
  readonly #facts: Facts;

  constructor(facts = new Facts({ kinds: CALIBRATION_FACTS })) {
    this.#facts = facts;
  }

  /** A download over a chain took `ratio` times as long as the model says. */
  note(pair: Pair, ratio: number, nowMs: number): void {
    if (!(ratio > 0 && ratio < Number.POSITIVE_INFINITY)) return;
    const known = this.#known(pair);
    const said = Math.min(Math.max(ratio, 1 / MOST_SAID), MOST_SAID);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    const key = keyOf(pair.network, pair.host);
    this.#facts.learn(PAIR_CALIBRATED, key, observed(known?.value, said, passedMs, LIFE_MS), nowMs);
  }

  /** How many times as long as the model says the next one will take; 1 where nobody knows better. */
  factor(pair: Pair, nowMs: number): number {
    const known = this.#known(pair);
    if (!known) return 1;
    const { value } = estimateOf(known.value, nowMs - known.timeMs, USUAL, LIFE_MS);
    return Math.min(Math.max(value, 1 / MOST_CHANGED), MOST_CHANGED);
  }

  #known({ network, host }: Pair): { readonly value: Figure; readonly timeMs: number } | undefined {
    return this.#facts.store.newest(PAIR_CALIBRATED, keyOf(network, host));
  }
}
