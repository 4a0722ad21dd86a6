import { meanInterval, ratioOfMeans, stratifiedMeanInterval } from '../results/statistics.ts';
import { byScenario, type Cell } from './cells.ts';
import { chosenChains, throughChain } from './chosen-chains.ts';
import { verdictOf } from './compare.ts';
import { inlineCode } from './markdown-table.ts';
import { listed, mbps, mbpsPlusMinus, ratio, ratioInterval, ratioRange } from './numbers.ts';
import type { ReportVariant } from './report-plan.ts';

/** One variant over all levels of one place. */
export interface Course {
  readonly variant: ReportVariant;
  readonly series: number;
  /** In the order of the levels, the same levels for all courses of a place. */
  readonly cells: readonly Cell[];
}

/** Courses over the levels at which every variant was measured, for only these compare. */
export function coursesOf(cells: readonly Cell[]): Course[] {
  const scenarios = byScenario(cells);
  const most = Math.max(...scenarios.map((row) => row.length));
  const whole = scenarios.filter((row) => row.length === most).flatMap(([, ...own]) => own);
  return [...Map.groupBy(whole, ({ variant }) => variant)].map(([variant, own]) => ({
    variant,
    series: own[0]?.series ?? 0,
    cells: own.toSorted((a, b) => levelOf(a) - levelOf(b)),
  }));
}

/** Goodput of a course, level by level. */
export function strataOf({ cells }: Course): (readonly number[])[] {
  return cells.map(({ goodputsBps }) => goodputsBps);
}

/** What the courses of one place show: over all levels, where a chain does not pay, and at the two ends. */
export function rnpFindings(courses: readonly Course[], levelLabel: string): string {
  const direct = courses.find(({ variant }) => variant.id === 'direct');
  const ours = courses.filter(({ variant }) => variant.isLonghaul);
  if (!direct || ours.length === 0) return 'no chain was measured beside `direct`.';
  const told = ours.map((course) => {
    const compared = ratioOfMeans(strataOf(course), strataOf(direct));
    const value = mbps(stratifiedMeanInterval(strataOf(course)).value);
    const times = compared ? `, ${ratio(compared.value)} times \`direct\` ${ratioRange(compared)}` : '';
    return `${inlineCode(course.variant.id)} ${value} Mbit/s${times}`;
  });
  const base = mbps(stratifiedMeanInterval(strataOf(direct)).value);
  const sentences = [
    `over all levels \`direct\` carries ${base} Mbit/s (mean), ${listed(told)}.`,
    ...ours.map((course) => withoutGain(course, direct, levelLabel)),
    whatAutoChose(courses, levelLabel),
    atTheEnds(courses, levelLabel),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** The levels where a chain does not pay; those where the planner itself went direct have no chain to speak of. */
function withoutGain(course: Course, direct: Course, levelLabel: string): string {
  const chains = course.cells.flatMap((cell, at) => {
    const chain = throughChain(cell);
    return chain ? [{ chain, other: direct.cells[at] }] : [];
  });
  const useless = chains.flatMap(({ chain, other }) => {
    const compared = other && ratioOfMeans([chain.goodputsBps], [other.goodputsBps]);
    if (!compared) return [];
    const verdict = verdictOf(compared, Math.min(chain.lines.length, other.lines.length));
    return verdict === 'slower' || verdict === 'unclear' ? [{ level: levelOf(chain), compared }] : [];
  });
  const name = inlineCode(course.variant.id);
  if (useless.length === 0) return '';
  if (useless.length === course.cells.length) {
    const ratios = useless.map(({ compared }) => compared.value);
    return `${name} does not pay at any level: ${ratio(Math.min(...ratios))} to ${ratio(Math.max(...ratios))} times \`direct\`.`;
  }
  const where = useless.map(
    ({ level, compared }) => `${level} (${ratioInterval(compared)} times \`direct\`)`,
  );
  return `${name} does not pay at ${listed(where)} ${levelLabel}.`;
}

/** The planner's choice, level by level; levels with the same choice stand together. */
function whatAutoChose(courses: readonly Course[], levelLabel: string): string {
  const auto = courses.find(({ variant }) => variant.id === 'auto');
  const told = auto?.cells.filter((cell) => chosenChains(cell) !== '') ?? [];
  if (!auto || told.length === 0) return '';
  const ways = [...Map.groupBy(told, chosenChains)].map(([way, cells]) => {
    const levels = listed(cells.map((cell) => String(levelOf(cell))));
    return cells.length === auto.cells.length ? `${way} at every level` : `${way} at ${levels}`;
  });
  const unit = ways.length === 1 && told.length === auto.cells.length ? '' : ` ${levelLabel}`;
  return `\`auto\` ${ways.join('; it ')}${unit}.`;
}

/** What is best at the quietest and at the busiest level, and what is as good. */
function atTheEnds(courses: readonly Course[], levelLabel: string): string {
  if ((courses[0]?.cells.length ?? 0) < 2) return '';
  return `At the quietest level ${bestAt(courses, 0, levelLabel)}; at the busiest ${bestAt(courses, -1, levelLabel)}.`;
}

function bestAt(courses: readonly Course[], place: 0 | -1, levelLabel: string): string {
  const means = courses
    .flatMap(({ cells }) => cells.at(place) ?? [])
    .map((cell) => ({ cell, name: inlineCode(cell.variant.id), mean: meanInterval(cell.goodputsBps) }));
  const [best, ...others] = means.toSorted((a, b) => b.mean.value - a.mean.value);
  if (!best) return 'nothing was measured';
  const near = others.filter(({ mean }) => mean.high >= best.mean.low).map(({ name }) => name);
  const tie = near.length > 0 ? `, with an interval that meets those of ${listed(near)}` : '';
  return `(${levelOf(best.cell)} ${levelLabel}) ${best.name} has the highest mean, ${mbpsPlusMinus(best.mean)} Mbit/s${tie}`;
}

function levelOf({ scenario }: Cell): number {
  return scenario.level ?? 0;
}
