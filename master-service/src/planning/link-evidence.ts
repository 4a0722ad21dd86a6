import type { KnownFigure, LegEvidence } from '@longhaul/shared';
import type { Estimate } from '../estimates/estimate.ts';
import type { LinkTable } from './link-table.ts';

/** What is known of the leg on which `other` sends to `one`, by whom, how old it is and how sure. */
export function linkEvidence(
  links: Pick<LinkTable, 'distribution' | 'measuredBy'>,
  one: string,
  other: string,
  nowMs: number,
): LegEvidence {
  const { rttMs, lossRate, goodputBps } = links.distribution(one, other, nowMs);
  return {
    rttMs: figureOf(rttMs),
    lossRate: figureOf(lossRate),
    goodputBps: figureOf(goodputBps),
    by: links.measuredBy(one, other),
  };
}

function figureOf({ value, spread, samples, ageMs, source }: Estimate): KnownFigure {
  return { value, spread, samples, ...(ageMs === undefined ? {} : { ageMs }), source };
}
