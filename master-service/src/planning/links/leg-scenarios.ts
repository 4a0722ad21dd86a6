import type { LegEstimate } from '@longhaul/shared';

/** How unsure the figures of a leg are: standard deviations of their natural logarithms. */
export interface LegDoubt {
  readonly rtt: number;
  readonly loss: number;
  readonly rate: number;
  /** Its round trip is no longer than this, whatever its spread says. */
  readonly mostRttMs?: number;
  /** It carries at least so much, in bits per second: several connections were seen to get that through. */
  readonly leastBps?: number;
  /** The leg whose rate it shares, by its name: what is unsure of that is the same. */
  readonly rateAs?: string;
}

export const NO_DOUBT: LegDoubt = { rtt: 0, loss: 0, rate: 0 };

/**
 * Scenarios that stand for all that may be: eight parts of each figure's distribution, all as likely, by
 * their middles.
 */
export const SCENARIOS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];
/** Of the standard normal distribution, at (i + 1/2) / 8; scaled so that their variance is 1. */
const QUANTILES: readonly number[] = [-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534].map(
  (quantile) => quantile / 0.936,
);

/**
 * A leg in each of the scenarios. Each figure takes each of the quantiles once, in an order drawn by the
 * leg's name: what is unsure of one leg says nothing of the others (McKay, Beckman, Conover, "A comparison of
 * three methods for selecting values of input variables", Technometrics 21(2), 1979).
 */
export function scenariosOf(leg: LegEstimate, doubt: LegDoubt, name: string): LegEstimate[] {
  const rtts = factors(doubt.rtt, `${name} rtt`);
  const losses = factors(doubt.loss, `${name} loss`);
  const rates = factors(doubt.rate, `${doubt.rateAs ?? name} rate`);
  const { connectionBps } = leg;
  const leastBps = Math.min(leg.rateBps, doubt.leastBps ?? 0);
  const mostRttMs = Math.max(leg.rttMs, doubt.mostRttMs ?? Number.POSITIVE_INFINITY);
  return SCENARIOS.map((scenario) => {
    const rate = rates[scenario] ?? 1;
    return {
      ...leg,
      rttMs: Math.min(leg.rttMs * (rtts[scenario] ?? 1), mostRttMs),
      lossRate: Math.min(1, leg.lossRate * (losses[scenario] ?? 1)),
      rateBps: Math.max(leastBps, leg.rateBps * rate),
      ...(connectionBps === undefined ? {} : { connectionBps: connectionBps * rate }),
    };
  });
}

/** What a figure is multiplied by in each of the scenarios; nothing where there is no doubt of it. */
function factors(spread: number, name: string): readonly number[] {
  return spread > 0 ? orderOf(name).map((place) => Math.exp(spread * (QUANTILES[place] ?? 0))) : [];
}

/** The numbers of the scenarios in an order that a name decides (Fisher and Yates; FNV-1a and a linear generator). */
function orderOf(name: string): number[] {
  let state = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    state = Math.imul(state ^ name.charCodeAt(index), 0x01000193) >>> 0;
  const order = [...SCENARIOS];
  for (let index = order.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (index + 1));
    [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
  }
  return order;
}
