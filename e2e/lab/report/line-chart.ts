import { scaleLinear, scalePoint } from 'd3-scale';
import { chartStyle, FONT_SIZE, mark, seriesClass } from './palette.ts';
import { element, line, type Markup, svgDocument, text, textWidth } from './svg.ts';

export interface LinePoint {
  /** One of the chart's `levels`. */
  readonly level: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface LineSeries {
  readonly label: string;
  /** Place of the variant in the plan: its colour and mark. */
  readonly series: number;
  readonly points: readonly LinePoint[];
}

export interface LineChart {
  readonly title: string;
  readonly description: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** From left to right, evenly spaced. */
  readonly levels: readonly string[];
  readonly series: readonly LineSeries[];
  readonly bound?: { readonly value: number; readonly label: string };
}

const WIDTH = 880;
const HEIGHT = 380;
const TOP = 48;
const BOTTOM = HEIGHT - 48;
const LEFT = 48;
/** Between marks of two series at one level, so that whiskers do not lie on each other. */
const DODGE = 7;
/** Least distance of two labels at the right end. */
const LABEL_DISTANCE = 16;
const TICKS = 6;

/** Lines over levels with intervals; every line is named at its right end. */
export function lineChart(chart: LineChart): string {
  const labelWidth = Math.max(0, ...chart.series.map(({ label }) => textWidth(label, FONT_SIZE))) + 34;
  const right = WIDTH - labelWidth;
  const x = scalePoint().domain(chart.levels).range([LEFT, right]).padding(0.4);
  const tops = chart.series.flatMap(({ points }) => points.map(({ high }) => high));
  const y = scaleLinear()
    .domain([0, (Math.max(chart.bound?.value ?? 0, ...tops) || 1) * 1.03])
    .range([BOTTOM, TOP]);

  const parts: Markup[] = [text(LEFT, 18, chart.yLabel, { class: 'muted small', 'text-anchor': 'start' })];
  for (const tick of y.ticks(TICKS)) {
    parts.push(line(LEFT, y(tick), right, y(tick), { class: tick === 0 ? 'axis' : 'grid' }));
    parts.push(
      text(LEFT - 8, y(tick) + 4, y.tickFormat(TICKS)(tick), { class: 'muted small', 'text-anchor': 'end' }),
    );
  }
  for (const level of chart.levels) {
    parts.push(text(x(level) ?? 0, BOTTOM + 18, level, { class: 'muted small', 'text-anchor': 'middle' }));
  }
  parts.push(
    text((LEFT + right) / 2, BOTTOM + 38, chart.xLabel, { class: 'muted small', 'text-anchor': 'middle' }),
  );
  if (chart.bound) {
    const height = y(chart.bound.value);
    parts.push(line(LEFT, height, right, height, { class: 'bound' }));
    parts.push(text(right, height - 6, chart.bound.label, { class: 'muted small', 'text-anchor': 'end' }));
  }
  const placed = chart.series.map((series, at) => {
    const shift = (at - (chart.series.length - 1) / 2) * DODGE;
    return series.points.map((point) => ({ point, px: (x(point.level) ?? 0) + shift, py: y(point.value) }));
  });
  for (const [at, points] of placed.entries()) {
    parts.push(...drawSeries(chart.series[at]?.series ?? 0, points, y));
  }
  parts.push(...drawLabels(chart, placed, right));
  const { title, description } = chart;
  return svgDocument({ width: WIDTH, height: HEIGHT, title, description, style: chartStyle() }, ...parts);
}

interface PlacedPoint {
  readonly point: LinePoint;
  readonly px: number;
  readonly py: number;
}

function drawSeries(series: number, points: readonly PlacedPoint[], y: (value: number) => number): Markup[] {
  const path = points
    .map(({ px, py }, at) => `${at === 0 ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`)
    .join('');
  const whisker = { class: `${seriesClass(series)} whisker` };
  return [
    ...(path ? [element('path', { d: path, class: `${seriesClass(series)} path` })] : []),
    ...points.flatMap(({ point, px }) => {
      const low = y(Math.max(0, point.low));
      const high = y(point.high);
      return [
        line(px, low, px, high, whisker),
        line(px - 3, low, px + 3, low, whisker),
        line(px - 3, high, px + 3, high, whisker),
      ];
    }),
    ...points.map(({ px, py }) => mark(series, px, py, 4.5)),
  ];
}

/** Names at the right, at the height of the last point, pushed apart where they would touch. */
function drawLabels(chart: LineChart, placed: readonly (readonly PlacedPoint[])[], right: number): Markup[] {
  const wanted = chart.series.flatMap(({ label, series }, at) => {
    const last = placed[at]?.at(-1);
    return last ? [{ label, series, last, y: last.py }] : [];
  });
  const ordered = wanted.toSorted((a, b) => a.y - b.y);
  const heights = spread(
    ordered.map(({ y }) => y),
    LABEL_DISTANCE,
    { from: TOP, to: BOTTOM },
  );
  return ordered.flatMap(({ label, series, last }, at) => {
    const height = heights[at] ?? last.py;
    return [
      line(last.px + 8, last.py, right + 4, height, { class: `${seriesClass(series)} leader` }),
      mark(series, right + 14, height, 4.5),
      text(right + 26, height + 4, label),
    ];
  });
}

/** Moves rising places apart until each is `distance` from the next, staying as near as a simple rule can. */
export function spread(
  places: readonly number[],
  distance: number,
  { from, to }: { readonly from: number; readonly to: number },
): number[] {
  const moved: number[] = [];
  for (const place of places) moved.push(Math.max(place, (moved.at(-1) ?? from - distance) + distance));
  let limit = to;
  for (let at = moved.length - 1; at >= 0; at -= 1) {
    moved[at] = Math.min(moved[at] ?? limit, limit);
    limit = (moved[at] ?? limit) - distance;
  }
  return moved;
}
