import { expect, test } from 'vitest';
import type { TransferLine } from '../results/transfer-line.ts';
import { pairsOf } from './compare.ts';
import { imaginedMatrix } from './imagined-results.ts';

const LINES = imaginedMatrix(3).lines.filter(({ scenario }) => scenario === 'loss0-big');
const of = (variant: string) => LINES.filter((line) => line.variant === variant);
const goodputs = (ours: readonly TransferLine[], others: readonly TransferLine[]) =>
  pairsOf(ours, others, ({ goodputBps }) => goodputBps);

test('a pair is of two transfers of one repeat', () => {
  const [ours, others] = [of('chain3'), of('direct')];
  expect(goodputs(ours, others.toReversed())).toEqual(
    ours.map((line, at) => [line.goodputBps, others[at]?.goodputBps]),
  );
});

test('transfers of one repeat that were measured with different random numbers are no pair', () => {
  const others = of('direct').map((line) => ({ ...line, seed: line.seed + 1 }));
  expect(goodputs(of('chain3'), others)).toEqual([]);
});
