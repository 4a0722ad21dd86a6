import type { FigureSource, LegKnowledge } from '@longhaul/shared';
import type { LinkEstimate } from './link-view.ts';

/** How the figures of a leg over `link` are known; without an estimate they are assumed. */
export function knowledgeOf(link: LinkEstimate | undefined): LegKnowledge {
  if (!link) return knownAs('assumed');
  const { ageMs, goodputBps, source, rateSource } = link;
  if (source) return knownAs(source);
  if (ageMs === undefined) return knownAs('configured');
  return {
    rttSource: 'measured',
    goodputSource: goodputBps === undefined ? (rateSource ?? 'configured') : 'measured',
    measuredAgeMs: ageMs,
  };
}

/** Both figures of a leg known in one way, without a measurement. */
export function knownAs(source: FigureSource): LegKnowledge {
  return { rttSource: source, goodputSource: source };
}
