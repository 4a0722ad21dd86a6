import {
  type DecisionReason,
  type FigureSource,
  formatBytes,
  leastSure,
  type PlanAnswer,
} from '@longhaul/shared';
import { formatDuration } from './durations.ts';

/** What the page says of a plan: a heading, what it claims, and what must be true for it. */
export interface PlanWords {
  readonly heading: string;
  /** Ends with "if" where there are conditions. */
  readonly claim: string;
  readonly conditions: readonly string[];
}

/**
 * No figure without how it is known: only what was measured, for a file that was seen, is promised without
 * conditions.
 */
export function planWords(plan: PlanAnswer): PlanWords {
  const conditions = punctuated(conditionsOf(plan));
  const isSure = conditions.length === 0;
  if (plan.decision === 'direct') {
    const heading = DIRECT_HEADINGS[plan.decisionReason] ?? 'Direct';
    return {
      heading: heading.replace('SIZE', formatBytes(plan.sizeBytes)),
      ...directClaim(plan, conditions),
    };
  }
  const through = `Through ${countOf(plan.chain.length, 'depot')}: ${LIST.format(plan.chain)}`;
  const time = `about ${formatDuration(plan.prediction.seconds)}`;
  const directTime = `about ${formatDuration(plan.direct.seconds)}`;
  const heading = plan.decisionReason === 'chain-asked' ? `${through}, as asked` : through;
  if (!isSure) {
    const claim = `${capitalized(time)}${seenSize(plan)}, instead of ${directTime} over one direct connection, if`;
    return { heading, claim, conditions };
  }
  const known = `One direct connection would take ${directTime}. ${MEASURED} (${formatBytes(plan.sizeBytes)}).`;
  const gain = plan.direct.seconds / plan.prediction.seconds;
  if (plan.decisionReason === 'chain-asked' || gain <= 1)
    return { heading, claim: `${capitalized(time)}. ${known}`, conditions };
  const factor = gain >= 10 ? Math.round(gain) : gain.toFixed(1);
  return { heading: `${capitalized(time)}, ${factor} times faster than direct`, claim: known, conditions };
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' });
const MEASURED = 'Depots have measured all links, and one of them has fetched this file';

const DIRECT_HEADINGS: Partial<Record<DecisionReason, string>> = {
  'no-depots': 'Direct: this master has no depots yet',
  'no-depot-up': 'Direct: no depot is up',
  'chains-off': 'Direct: this master plans no chains',
  'direct-preferred': 'Direct: clients of this network asked for it',
  'depots-avoided': 'Direct: the depots that could help are to be avoided',
  'links-unknown': 'Direct: depots are up, but no links over them are known',
  'chain-disappoints': 'Direct: over a chain downloads took too long, of late',
  'small-file': 'Direct: a file of SIZE is too small to gain from a chain',
  'no-gain': 'Direct: no chain would be clearly faster',
};

function directClaim(
  plan: PlanAnswer,
  conditions: readonly string[],
): Pick<PlanWords, 'claim' | 'conditions'> {
  const { prediction, sizeBytes } = plan;
  if (prediction.source === 'assumed') {
    const claim =
      'Nothing is known of the way between you and the origin, so nobody can say how long it takes.';
    return { claim, conditions: [] };
  }
  const time = `About ${formatDuration(prediction.seconds)}`;
  if (conditions.length > 0)
    return { claim: `${time}${seenSize(plan)} over one direct connection, if`, conditions };
  return {
    claim: `${time} over one direct connection. ${MEASURED} (${formatBytes(sizeBytes)}).`,
    conditions,
  };
}

/** A size that is no condition still stands beside the time. */
function seenSize({ sizeBytes, sizeSource }: PlanAnswer): string {
  return sizeSource === 'reported' ? ` for the ${formatBytes(sizeBytes)} that a depot saw` : '';
}

function conditionsOf(plan: PlanAnswer): string[] {
  return [
    ...sizeCondition(plan),
    ...(plan.fileSeen
      ? []
      : [
          'the file exists and its server is fast enough: as far as this master knows, no depot has fetched it yet',
        ]),
    ...linkConditions(plan),
  ];
}

function sizeCondition({ sizeBytes, sizeSource }: PlanAnswer): string[] {
  const size = `the file has ${formatBytes(sizeBytes)}`;
  if (sizeSource === 'option') return [`${size}, as you say`];
  if (sizeSource === 'reported') return [];
  return [`${size}: that is an assumption, because nobody has told this master its size`];
}

function linkConditions({ decision, prediction: { legs }, direct }: PlanAnswer): string[] {
  const sources = legs.map(({ rttSource, goodputSource }) => leastSure([rttSource, goodputSource]));
  const typedIn = sources.filter((source) => source === 'configured').length;
  const assumed = sources.filter((source) => source === 'assumed').length;
  const isDirectTypedIn = decision === 'chain' && direct.source === 'configured';
  const isAllTypedIn = isDirectTypedIn && typedIn === legs.length;
  const both = 'the links and the direct way are as fast as the operator typed in: nobody has measured them';
  const derived = 'the direct way is as fast as the links over depots put together: nobody has measured it';
  return [
    ...(sources.includes('derived') ? [derived] : []),
    ...(typedIn > 0 && !isAllTypedIn
      ? [
          `${linksBe(typedIn, legs.length)} as fast as the operator typed in: nobody has measured ${them(typedIn)}`,
        ]
      : []),
    ...(assumed > 0
      ? [
          `${linksBe(assumed, legs.length)} as fast as this master assumes: nothing is known of ${them(assumed)}`,
        ]
      : []),
    ...(isAllTypedIn ? [both] : decision === 'chain' ? DIRECT_CONDITIONS[direct.source] : []),
  ];
}

/** What the comparison with the direct way rests on. */
const DIRECT_CONDITIONS: Record<FigureSource, readonly string[]> = {
  measured: [],
  configured: ['a direct connection is as slow as the operator typed in: nobody has measured it'],
  derived: ['a direct connection is as slow as the links of the chain put together: nobody has measured it'],
  assumed: ['a direct connection is as slow as this master assumes: nothing is known of it'],
};

function linksBe(count: number, all: number): string {
  const be = count === 1 ? 'is' : 'are';
  if (count < all) return `${count} of the ${all} links ${be}`;
  return count === 1 ? `the link ${be}` : `the links ${be}`;
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}

function punctuated(conditions: readonly string[]): string[] {
  return conditions.map((text, index) => `${text}${index < conditions.length - 1 ? ';' : '.'}`);
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
