import type { LinkConfig } from '../../config.ts';
import type { Estimate } from '../../estimates/estimate.ts';
import type { Prior } from '../../estimates/figure.ts';
import { keyOf } from '../../facts/two-part-keys.ts';
import type { LinkEstimate } from './link-view.ts';

/** How much what an operator has typed in may be off. */
const CONFIGURED_BETWEEN = 0.3;
/** Stands for no loss at all, where a logarithm is taken of it. */
const LEAST_LOSS = 1e-9;

/** The key of what holds in both directions of a link: its ends in their order. */
export function pairKey(one: string, other: string): string {
  return one < other ? keyOf(one, other) : keyOf(other, one);
}

/** The links that an operator has typed in, the same in both directions. */
export class ConfiguredLinks {
  readonly #links = new Map<string, LinkConfig>();
  /** Of each of them, as it is planned with where nothing is measured: the same object each time. */
  readonly #typed = new Map<LinkConfig, LinkEstimate>();
  readonly #windowBytes: number;

  /** `windowBytes`: of links of which none is typed in. */
  constructor(links: readonly LinkConfig[], windowBytes: number) {
    for (const link of links) this.#links.set(pairKey(...link.between), link);
    this.#windowBytes = windowBytes;
  }

  of(one: string, other: string): LinkConfig | undefined {
    return this.#links.get(pairKey(one, other));
  }

  /** By {@link pairKey}. */
  keys(): Iterable<string> {
    return this.#links.keys();
  }

  /** How a link is planned with by what is typed in alone. */
  estimateOf(link: LinkConfig): LinkEstimate {
    const known = this.#typed.get(link);
    if (known) return known;
    const { rttMs, lossRate, rateBps, windowBytes = this.#windowBytes } = link;
    const typed = { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: undefined };
    this.#typed.set(link, typed);
    return typed;
  }
}

/** What the operator says of a figure. */
export function typedPrior(value: number, link: LinkConfig, within: number): Prior {
  const doubt = link.fixed ? { between: 0, within: 0 } : { between: CONFIGURED_BETWEEN, within };
  return { value, ...doubt, source: 'configured' };
}

/** The loss rate of a link of which stands what is typed in. */
export function fixedLoss({ lossRate }: LinkConfig): Estimate {
  const value = Math.max(lossRate, LEAST_LOSS);
  return { value, spread: 0, ageMs: undefined, samples: 0, source: 'configured' };
}
