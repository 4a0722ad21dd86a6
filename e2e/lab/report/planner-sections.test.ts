import { describe, expect, test } from 'vitest';
import { cellsOf } from './cells.ts';
import { harmSections, likeOf } from './harm-sections.ts';
import { imaginedMatrix } from './imagined-results.ts';
import { predictionError, predictionSections, regretSections } from './planner-sections.ts';

const { plan, lines } = imaginedMatrix(3);
const [sample] = lines;
if (!sample) throw new Error('the imagined matrix has no lines');

describe('what the planner said', () => {
  test('is off by the logarithm of measured by predicted goodput, either way', () => {
    const line = { ...sample, sizeBytes: 1e6, goodputBps: 8e6 };
    expect(predictionError({ ...line, predictedSeconds: 1 })).toBeCloseTo(0);
    expect(predictionError({ ...line, predictedSeconds: 2 })).toBeCloseTo(Math.log(2));
    expect(predictionError({ ...line, predictedSeconds: 0.5 })).toBeCloseTo(Math.log(2));
    expect(predictionError(line)).toBeUndefined();
    expect(predictionError({ ...line, predictedSeconds: 1, sha256Ok: false })).toBeUndefined();
  });

  test('has a section where plans were kept, and none where they were not', () => {
    expect(predictionSections(cellsOf(plan, lines))).toEqual([]);
    const told = lines.map((line) => ({ ...line, predictedSeconds: (line.sizeBytes * 8) / line.goodputBps }));
    const [section] = predictionSections(cellsOf(plan, told));
    expect(section?.text?.join(' ')).toMatch(/`auto`: median 0\.00, 90 % below 0\.00, of \d+ transfers/);
  });

  test('is regretted by the best way with as many client connections', () => {
    const only = lines.filter(({ scenario }) => scenario === 'loss0-limited');
    const variants = plan.variants.map((variant) =>
      variant.id === 'ranges8' || variant.id === 'aria2-16' ? { ...variant, clientConnections: 8 } : variant,
    );
    const [section] = regretSections(cellsOf({ ...plan, variants }, only));
    expect(section?.tables.join()).not.toMatch(/ranges8|aria2/);
    expect(section?.text?.join()).toContain('of 1 scenario,');
  });
});

describe('what downloads do to others', () => {
  test('is held against as many plain connections', () => {
    const variants = ['direct', 'ranges4', 'ranges8', 'aria2-16', 'auto'];
    expect(likeOf(sample, 1, variants)).toBe('direct');
    expect(likeOf({ ...sample, lanes: 3 }, 1, variants)).toBe('ranges4');
    expect(likeOf({ ...sample, lanes: 8 }, 1, variants)).toBe('ranges8');
    expect(likeOf(sample, 16, variants)).toBe('ranges8');
    expect(likeOf({ ...sample, lanes: 4 }, 1, ['direct'])).toBe('direct');
  });

  test('is told of scenarios with cross traffic, by pairs of one repeat', () => {
    expect(harmSections(cellsOf(plan, lines))).toEqual([]);
    const shared = lines
      .filter(({ scenario }) => scenario === 'loss0-big')
      .map((line) => ({ ...line, crossBps: (line.variant === 'direct' ? 40e6 : 20e6) * line.repeat }));
    const [section] = harmSections(cellsOf(plan, shared));
    const row = section?.tables
      .join('\n')
      .split('\n')
      .find((line) => line.includes('| `auto` |'));
    expect(row).toContain('0.50 [0.50–0.50] | **no**');
  });
});
