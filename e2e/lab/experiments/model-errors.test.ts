import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLines, transferLineSchema } from '../results/read-lines.ts';
import { EXPERIMENTS } from './experiments.ts';
import { type ModelError, modelErrors, spreadOf } from './model-errors.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', 'docs', 'results', 'data');

/** Cells of a committed result with one lane: what lanes cost is not the model's, but the lanes'. */
function cellsOf(name: string, ...files: readonly string[]): ModelError[] {
  const experiment = EXPERIMENTS.find((one) => one.name === name);
  if (!experiment) throw new Error(`no experiment ${name}`);
  return files
    .flatMap((file) => {
      const { lines } = readLines(file, readFileSync(join(DATA, file)), transferLineSchema);
      return modelErrors(experiment, lines);
    })
    .filter(({ lanes }) => lanes === 1);
}

describe("the planner's model of a transfer's time", () => {
  test('is right within 5 % in the median and 20 % in nine of ten cells of the matrix', () => {
    const spread = spreadOf(cellsOf('matrix', 'matrix.jsonl', 'matrix-cubic.jsonl'));
    expect(spread.median).toBeLessThan(0.05);
    expect(spread.p90).toBeLessThan(0.2);
  });

  test('is right within 8 % and 30 % where ten transfers of each cell were measured, which misses 5 % and 20 %', () => {
    const spread = spreadOf(cellsOf('matrix', 'matrix-readme-first.jsonl'));
    expect(spread.median).toBeLessThan(0.08);
    expect(spread.p90).toBeLessThan(0.3);
  });

  test('is right within 5 % and 20 % on the backbone, by which it was not fitted, when nobody else is there', () => {
    const files = ['rnp-scenario1.jsonl', 'rnp-scenario2.jsonl', 'rnp-scenario3.jsonl'];
    const spread = spreadOf(cellsOf('rnp', ...files).filter(({ scenario }) => scenario.endsWith('night')));
    expect(spread.median).toBeLessThan(0.05);
    expect(spread.p90).toBeLessThan(0.2);
  });

  test('is right within 10 % and 25 % on two segments of 2 to 4 % loss', () => {
    const spread = spreadOf(cellsOf('split', 'split.jsonl'));
    expect(spread.median).toBeLessThan(0.1);
    expect(spread.p90).toBeLessThan(0.25);
  });
});
