import type { KnownFigure, LegEvidence } from '@longhaul/shared';
import type { Estimate } from '../../estimates/estimate.ts';
import type { LegDistribution } from '../../estimates/leg-figures.ts';
import type { LinkTable } from './link-table.ts';

/** What is known of the leg on which `other` sends to `one`, by whom, how old it is and how sure. */
export function linkEvidence(
  links: Pick<LinkTable, 'distribution' | 'measuredBy'>,
  one: string,
  other: string,
  nowMs: number,
): LegEvidence {
  return evidenceOf(links.distribution(one, other, nowMs), links.measuredBy(one, other));
}

/** The same, of what these have measured. */
export function evidenceOf(
  { rttMs, lossRate, goodputBps, totalBps }: LegDistribution,
  by: readonly string[],
): LegEvidence {
  return {
    rttMs: figureOf(rttMs),
    lossRate: figureOf(lossRate),
    goodputBps: figureOf(goodputBps),
    ...(totalBps === undefined ? {} : { totalBps }),
    by: [...by],
  };
}

function figureOf({ value, spread, samples, ageMs, source }: Estimate): KnownFigure {
  return { value, spread, samples, ...(ageMs === undefined ? {} : { ageMs }), source };
}
