import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { chartStyle, FONT_SIZE, mark, seriesClass } from './palette.ts';
import { element, line, type Markup, svgDocument, text, textWidth } from './svg.ts';

/** One variant in a panel: a mark with whiskers, and small dots for single transfers. */
export interface IntervalRow {
  readonly label: string;
  /** Place of the variant in the plan: its colour and mark. */
  readonly series: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** What stands at the right end, for example `74`. */
  readonly valueLabel: string;
  /** What the model says: a hollow mark. */
  readonly predicted?: number;
  /** Hollow ones are those to be careful with. */
  readonly singles?: readonly { readonly value: number; readonly isHollow: boolean }[];
}

export interface IntervalPanel {
  readonly title: string;
  readonly rows: readonly IntervalRow[];
  /** What no row can exceed: a dashed line. */
  readonly bound?: { readonly value: number; readonly label: string };
}

export interface IntervalChart {
  readonly title: string;
  readonly description: string;
  readonly xLabel: string;
  readonly panels: readonly IntervalPanel[];
  /** Lines below the panels that explain marks. */
  readonly legend: readonly string[];
  /** Each panel has a scale of its own, for panels that are not compared with each other. */
  readonly hasOwnScales?: boolean;
}

const WIDTH = 880;
/** Between the two columns of panels, and at the edges. */
const GAP = 24;
const EDGE = 8;
const ROW_HEIGHT = 24;
/** Single transfers lie below their row's whiskers, which would hide them. */
const SINGLE_BELOW = 7.5;
/** Above the rows of a panel: its title, and in the second case the bound's label too. */
const PANEL_HEAD = 26;
const BOUND_HEAD = 42;
/** Below them: numbers of the axis and its title. */
const PANEL_FOOT = 44;
const LEGEND_LINE = 18;
const TICKS = 5;

/** Panels of dots with intervals, on scales from zero: two beside each other when there are several. */
export function intervalChart(chart: IntervalChart): string {
  const columns = chart.panels.length > 1 ? 2 : 1;
  const width = (WIDTH - 2 * EDGE - GAP * (columns - 1)) / columns;
  const rows = chart.panels.flatMap((panel) => panel.rows);
  const labelWidth = widest(rows.map((row) => row.label)) + 10;
  const numberWidth = widest(rows.map((row) => row.valueLabel)) + 12;
  const scaleOf = (panels: readonly IntervalPanel[]) =>
    scaleLinear()
      .domain([0, largest(panels) * 1.02])
      .range([labelWidth, width - numberWidth]);
  const shared = scaleOf(chart.panels);
  const head = chart.panels.some(({ bound }) => bound) ? BOUND_HEAD : PANEL_HEAD;

  let top = EDGE;
  const body: Markup[] = [];
  for (let at = 0; at < chart.panels.length; at += columns) {
    const band = chart.panels.slice(at, at + columns);
    for (const [column, panel] of band.entries()) {
      const left = EDGE + column * (width + GAP);
      const scale = chart.hasOwnScales ? scaleOf([panel]) : shared;
      const drawn = drawPanel(panel, { scale, head, width, xLabel: chart.xLabel });
      body.push(element('g', { transform: `translate(${left} ${top})` }, ...drawn));
    }
    top += head + PANEL_FOOT + ROW_HEIGHT * Math.max(...band.map((panel) => panel.rows.length));
  }
  const legend = chart.legend.map((words, at) =>
    text(EDGE, top + 8 + at * LEGEND_LINE, words, { class: 'muted small' }),
  );
  const height = top + EDGE + legend.length * LEGEND_LINE;
  const { title, description } = chart;
  return svgDocument({ width: WIDTH, height, title, description, style: chartStyle() }, ...body, ...legend);
}

interface PanelPlace {
  readonly scale: ScaleLinear<number, number>;
  /** Pixels above the rows. */
  readonly head: number;
  readonly width: number;
  readonly xLabel: string;
}

function drawPanel(panel: IntervalPanel, { scale, head, width, xLabel }: PanelPlace): Markup[] {
  const bottom = head + panel.rows.length * ROW_HEIGHT;
  const [left = 0, right = width] = scale.range();
  const ticks = scale.ticks(TICKS);
  const parts: Markup[] = [text(0, 14, panel.title, { class: 'head' })];
  for (const tick of ticks) {
    parts.push(line(scale(tick), head, scale(tick), bottom, { class: 'grid' }));
    parts.push(
      text(scale(tick), bottom + 15, scale.tickFormat(TICKS)(tick), {
        class: 'muted small',
        'text-anchor': 'middle',
      }),
    );
  }
  parts.push(line(left, bottom, right, bottom, { class: 'axis' }));
  parts.push(
    text((left + right) / 2, bottom + 31, xLabel, { class: 'muted small', 'text-anchor': 'middle' }),
  );
  if (panel.bound) {
    const x = scale(panel.bound.value);
    parts.push(line(x, head - 6, x, bottom, { class: 'bound' }));
    parts.push(
      text(Math.min(x, width), head - 11, panel.bound.label, {
        class: 'muted small',
        'text-anchor': 'end',
      }),
    );
  }
  for (const [at, row] of panel.rows.entries()) {
    parts.push(...drawRow(row, scale, head + (at + 0.5) * ROW_HEIGHT, width));
  }
  return parts;
}

function drawRow(row: IntervalRow, scale: ScaleLinear<number, number>, y: number, width: number): Markup[] {
  const [left = 0] = scale.range();
  const baseline = y + FONT_SIZE * 0.35;
  const whisker = { class: `${seriesClass(row.series)} whisker` };
  const low = scale(Math.max(0, row.low));
  const high = scale(row.high);
  return [
    text(left - 10, baseline, row.label, { 'text-anchor': 'end' }),
    line(low, y, high, y, whisker),
    line(low, y - 4, low, y + 4, whisker),
    line(high, y - 4, high, y + 4, whisker),
    ...(row.singles ?? []).map((single) =>
      element('circle', {
        cx: scale(single.value),
        cy: y + SINGLE_BELOW,
        r: 2,
        class: `${seriesClass(row.series)} ${single.isHollow ? 'hollow' : 'solid'} single`,
      }),
    ),
    ...(row.predicted === undefined ? [] : [mark(row.series, scale(row.predicted), y, 6.5, true)]),
    mark(row.series, scale(row.value), y, 4.5),
    text(width, baseline, row.valueLabel, { 'text-anchor': 'end', class: 'number' }),
  ];
}

function largest(panels: readonly IntervalPanel[]): number {
  const values = panels.flatMap((panel) => [
    panel.bound?.value ?? 0,
    ...panel.rows.flatMap((row) => [row.high, row.value, row.predicted ?? 0]),
  ]);
  return Math.max(...values.filter(Number.isFinite)) || 1;
}

function widest(words: readonly string[]): number {
  return Math.max(0, ...words.map((word) => textWidth(word, FONT_SIZE)));
}
