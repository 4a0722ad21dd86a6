import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intervalChart } from './interval-chart.ts';
import { lineChart, spread } from './line-chart.ts';

/**
 * Whether tags are closed in order and no bare `<`, `>` or `&` is left; enough for what our own writer can
 * get wrong.
 */
function isWellFormed(xml: string): boolean {
  const open: string[] = [];
  const rest = xml.replaceAll(/<(\/?)([a-z]+)((?: [\w:-]+="[^"<]*")*)(\/?)>/g, (_, end, name, __, alone) => {
    if (end) return open.pop() === name ? '' : '<';
    if (!alone) open.push(name as string);
    return '';
  });
  const attributes = [...xml.matchAll(/="([^"]*)"/g)].map(([, value]) => value ?? '').join('');
  const entities = `${rest}${attributes}`.replaceAll(/&(?:amp|lt|gt|quot);/g, '');
  return (
    open.length === 0 && !/[<&\u0000-\u0008]/.test(entities) && !/NaN|Infinity|undefined/.test(attributes)
  );
}

const row = (label: string, value: number) => ({
  label,
  series: 0,
  value,
  low: value * 0.9,
  high: value * 1.1,
  valueLabel: '1',
});
const nasty = fc.string({ unit: 'binary', maxLength: 12 });

describe('charts', () => {
  it('are well-formed XML whatever their labels hold', () => {
    fc.assert(
      fc.property(nasty, nasty, fc.double({ min: 0, max: 1e4, noNaN: true }), (label, title, value) => {
        const panel = { title, rows: [row(label, value)], bound: { value, label } };
        const drawn = intervalChart({
          title,
          description: label,
          xLabel: label,
          panels: [panel, panel],
          legend: [label],
        });
        const point = { level: 'x', value, low: value, high: value };
        const lines = lineChart({
          title,
          description: label,
          xLabel: label,
          yLabel: title,
          levels: ['x'],
          series: [{ label, series: 1, points: [point] }],
        });
        // The words of attributes are ours, labels only stand in text.
        expect(isWellFormed(drawn)).toBe(true);
        expect(isWellFormed(lines)).toBe(true);
      }),
    );
  });

  it('tell dark from light and say what they show', () => {
    const svg = intervalChart({
      title: 'Goodput',
      description: 'what is drawn',
      xLabel: 'Mbit/s',
      panels: [{ title: 'clean', rows: [row('direct', 70)] }],
      legend: [],
    });
    expect(svg).toContain('prefers-color-scheme:dark');
    expect(svg).toContain('<title id="title">Goodput</title><desc id="description">what is drawn</desc>');
    expect(svg).toContain('viewBox="0 0 ');
  });

  it('hold up when every value is zero', () => {
    const panels = [{ title: 'dead', rows: [row('direct', 0)] }];
    const svg = intervalChart({ title: 't', description: 'd', xLabel: 'x', panels, legend: [] });
    expect(isWellFormed(svg)).toBe(true);
  });
});

describe('labels at the end of lines', () => {
  it('never touch and stay inside while there is room', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { maxLength: 10 }), (places) => {
        const moved = spread(
          places.toSorted((a, b) => a - b),
          16,
          { from: 0, to: 300 },
        );
        for (const [at, place] of moved.entries()) {
          expect(place).toBeGreaterThanOrEqual(-1e-9);
          expect(place).toBeLessThanOrEqual(300);
          if (at > 0) expect(place - (moved[at - 1] ?? 0)).toBeGreaterThanOrEqual(16 - 1e-9);
        }
      }),
    );
  });

  it('stay where they are when nothing is near', () => {
    expect(spread([10, 100, 200], 16, { from: 0, to: 300 })).toEqual([10, 100, 200]);
  });
});
