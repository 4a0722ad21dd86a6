import { type Estimate, meanInterval, ratioOfMeans, stratifiedMeanInterval } from '../results/statistics.ts';
import { byGroup, byScenario, type Cell, isLate } from './cells.ts';
import { intervalChart } from './interval-chart.ts';
import { type LineSeries, lineChart } from './line-chart.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { mbps, mbpsPlusMinus, ratioInterval } from './numbers.ts';
import { type ReportBody, type Section, slug } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';
import { type Course, coursesOf, rnpFindings, strataOf } from './rnp-findings.ts';

/** The paper's figures: mean goodput with 95 % intervals over levels of cross traffic, and over all levels together. */
export function rnpReport(plan: ReportPlan, cells: readonly Cell[]): ReportBody {
  const levelLabel = plan.levelLabel ?? 'flows of cross traffic';
  const groups = [...byGroup(cells)].map(([group, own]) => ({ group, cells: own, courses: coursesOf(own) }));
  return {
    findings: groups.map(
      ({ group, courses }) => `**${escapeMarkdown(group)}**: ${rnpFindings(courses, levelLabel)}`,
    ),
    sections: [
      consolidated(groups),
      ...groups.map(({ group, cells, courses }) => levelSection(group, cells, courses, levelLabel)),
    ],
  };
}

function levelSection(
  group: string,
  cells: readonly Cell[],
  courses: readonly Course[],
  levelLabel: string,
): Section {
  const scenarios = byScenario(cells).toSorted(([a], [b]) => (a.level ?? 0) - (b.level ?? 0));
  const bound = scenarios[0]?.[0].boundBps;
  const variants = courses.map(({ variant }) => variant);
  const series = variants.map((variant): LineSeries => {
    const own = scenarios.flatMap(([, ...row]) => row.filter((cell) => cell.variant === variant));
    return {
      label: variant.label,
      series: own[0]?.series ?? 0,
      points: own.map((cell) => ({
        level: String(cell.scenario.level ?? 0),
        ...inMbps(meanInterval(cell.goodputsBps)),
      })),
    };
  });
  const title = `${group}: goodput by ${levelLabel}`;
  const rows = scenarios.map(([scenario, ...row]) => [
    String(scenario.level ?? scenario.label),
    ...variants.map((variant) => {
      const cell = row.find((one) => one.variant === variant);
      if (!cell) return '–';
      return `${mbpsPlusMinus(meanInterval(cell.goodputsBps))}${cell.lines.some(isLate) ? '\\*' : ''}`;
    }),
    String(Math.min(...row.map(({ lines }) => lines.length))),
  ]);
  return {
    title,
    picture: {
      name: slug('levels', group),
      title,
      svg: lineChart({
        title,
        description: `Mean goodput in Mbit/s with 95 % intervals over ${levelLabel}, one line for each of ${series.length} variants.`,
        xLabel: levelLabel,
        yLabel: 'mean goodput, Mbit/s (whiskers: 95 % interval)',
        levels: scenarios.map(([scenario]) => String(scenario.level ?? 0)),
        series,
        ...(bound === undefined ? {} : { bound: { value: bound / 1e6, label: `bound ${mbps(bound)}` } }),
      }),
    },
    tables: [
      'Mean ± half of its 95 % interval, Mbit/s; n is the least number of transfers in the row:',
      markdownTable([levelLabel, ...variants.map(({ id }) => inlineCode(id)), 'n'], rows),
    ],
  };
}

function consolidated(
  groups: readonly { readonly group: string; readonly courses: readonly Course[] }[],
): Section {
  const title = 'All levels together';
  const rows = groups.flatMap(({ group, courses }) => {
    const direct = courses.find(({ variant }) => variant.id === 'direct');
    return courses.map((course) => {
      const compared = direct && course !== direct ? ratioOfMeans(strataOf(course), strataOf(direct)) : null;
      return [
        escapeMarkdown(group),
        inlineCode(course.variant.id),
        mbpsPlusMinus(stratifiedMeanInterval(strataOf(course))),
        compared ? ratioInterval(compared) : '–',
      ];
    });
  });
  return {
    title,
    text: [
      'Each level weighs the same; the interval holds what varies at one level, not what differs between levels.',
    ],
    picture: {
      name: 'all-levels',
      title: 'Mean goodput over all levels, by place and variant',
      svg: intervalChart({
        title,
        description: `Mean goodput in Mbit/s over all levels with 95 % intervals, one panel for each of ${groups.length} places.`,
        xLabel: 'mean goodput over all levels, Mbit/s',
        panels: groups.map(({ group, courses }) => ({
          title: group,
          rows: courses.map((course) => {
            const estimate = stratifiedMeanInterval(strataOf(course));
            return {
              label: course.variant.label,
              series: course.series,
              ...inMbps(estimate),
              valueLabel: mbps(estimate.value),
            };
          }),
        })),
        legend: ['Mark: mean over all levels. Whiskers: its 95 % interval.'],
      }),
    },
    tables: [markdownTable(['place', 'variant', 'Mbit/s', '× `direct`'], rows, { textColumns: 2 })],
  };
}

function inMbps({ value, low, high }: Estimate): Estimate {
  return { value: value / 1e6, low: low / 1e6, high: high / 1e6 };
}
