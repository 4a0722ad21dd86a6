import { type Attributes, element, type Markup } from './svg.ts';

/**
 * One colour for light and one for dark pages: the hues of Okabe and Ito (Color Universal Design, 2008),
 * which colour-blind people tell apart, darkened or lightened until each stands out from its background at
 * 3:1 or more.
 */
const COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#57606a', '#a8b1bb'],
  ['#0072b2', '#56b4e9'],
  ['#c44f00', '#ff9248'],
  ['#00795a', '#2fc79a'],
  ['#a3407c', '#e79cc8'],
  ['#8a6a00', '#e6c02e'],
  ['#2b3fa8', '#9db0ff'],
  ['#7a3b12', '#c99a6b'],
  ['#b00020', '#ff8f8f'],
  ['#3d6b00', '#a6d65c'],
];

/** So many variants have a colour of their own; then colours repeat, with another mark. */
const COLOUR_COUNT = COLOURS.length;

/** Points of marks in units of their radius; a circle has none. */
const SHAPES: readonly (readonly (readonly [number, number])[])[] = [
  [],
  [
    [-0.88, -0.88],
    [0.88, -0.88],
    [0.88, 0.88],
    [-0.88, 0.88],
  ],
  [
    [0, -1.15],
    [1.1, 0.8],
    [-1.1, 0.8],
  ],
  [
    [0, -1.25],
    [1.25, 0],
    [0, 1.25],
    [-1.25, 0],
  ],
  [
    [0, 1.15],
    [1.1, -0.8],
    [-1.1, -0.8],
  ],
  [
    [-0.4, -1.1],
    [0.4, -1.1],
    [0.4, -0.4],
    [1.1, -0.4],
    [1.1, 0.4],
    [0.4, 0.4],
    [0.4, 1.1],
    [-0.4, 1.1],
    [-0.4, 0.4],
    [-1.1, 0.4],
    [-1.1, -0.4],
    [-0.4, -0.4],
  ],
  [
    [0, -1.2],
    [1.15, -0.35],
    [0.7, 1],
    [-0.7, 1],
    [-1.15, -0.35],
  ],
];

/** Class of everything that belongs to the variant at this place of the plan: its colour as `fill` and `stroke`. */
export function seriesClass(series: number): string {
  return `s${series % COLOUR_COUNT}`;
}

/** A mark that differs in colour and shape from the other variants'. A hollow one shows what lies under it. */
export function mark(series: number, x: number, y: number, radius: number, isHollow = false): Markup {
  const shape = SHAPES[series % SHAPES.length] ?? [];
  const attributes: Attributes = { class: `${seriesClass(series)} ${isHollow ? 'hollow' : 'solid'}` };
  if (shape.length === 0) return element('circle', { cx: x, cy: y, r: radius, ...attributes });
  const points = shape.map(([dx, dy]) => `${(x + dx * radius).toFixed(1)},${(y + dy * radius).toFixed(1)}`);
  return element('polygon', { points: points.join(' '), ...attributes });
}

/** Sizes that charts and {@link chartStyle} share, in pixels. */
export const FONT_SIZE = 12;

/** Style of every chart. The background stays the page's; the reader's choice of light or dark decides the colours. */
export function chartStyle(): string {
  const theme = (at: 0 | 1, ink: string, muted: string, grid: string, back: string) =>
    [
      `text{fill:${ink}}.muted{fill:${muted}}.grid{stroke:${grid}}.axis{stroke:${muted}}`,
      `.bound{stroke:${muted}}.hollow{fill:${back}}.halo{stroke:${back}}`,
      ...COLOURS.map(
        (pair, series) =>
          `.s${series}{stroke:${pair[at]}}.solid.s${series},text.s${series}{fill:${pair[at]}}`,
      ),
    ].join('');
  return [
    `text{font:${FONT_SIZE}px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;stroke:none}`,
    '.head{font-weight:600}.small{font-size:11px}.number{font-variant-numeric:tabular-nums}',
    '.grid,.axis{stroke-width:1}.bound{stroke-width:1.5;stroke-dasharray:5 3}.path{fill:none;stroke-width:2}',
    '.whisker{stroke-width:1.5}.solid,.hollow{stroke-width:1.5}.single{stroke-width:1}.leader{stroke-width:1;opacity:.5}',
    theme(0, '#1f2328', '#59636e', '#d8dee4', '#ffffff'),
    `@media (prefers-color-scheme:dark){${theme(1, '#e6edf3', '#9198a1', '#343b44', '#0d1117')}}`,
  ].join('\n');
}
