import { expect, test } from 'vitest';
import { type ClassMember, LearnedPriors } from './learned-priors.ts';

const link = (rttMs: number, goodputBps: number | undefined, lossRate = 0): ClassMember => {
  return { rttMs, goodputBps, sentBytes: 1e9, lostBytes: 1e9 * lossRate };
};

test('links of a class tell what another one of it may be like, and nothing of other classes', () => {
  const priors = new LearnedPriors(100e6);
  expect(priors.goodput(100)).toMatchObject({ value: 100e6, source: 'assumed' });
  for (let index = 0; index < 50; index += 1) priors.count(link(100, 10e6, 0.004), 1);
  expect(priors.goodput(80).value).toBeLessThan(12e6);
  expect(priors.goodput(80)).toMatchObject({ source: 'derived' });
  expect(priors.goodput(80).between).toBeLessThan(0.7);
  expect(priors.loss(140)).toBeCloseTo(0.004, 3);
  expect(priors.goodput(3).value).toBeCloseTo(100e6);
  expect(priors.loss(400)).toBeCloseTo(3e-4);
});

test('a class whose links differ says little of each', () => {
  const priors = new LearnedPriors(100e6);
  for (let index = 0; index < 50; index += 1) priors.count(link(10, index % 2 ? 1e6 : 1e9), 1);
  expect(priors.goodput(10).between).toBeGreaterThan(2.5);
});

test('what is counted no more leaves nothing behind', () => {
  const priors = new LearnedPriors(100e6);
  const before = [priors.goodput(30), priors.loss(30)];
  priors.count(link(30, 5e6, 0.01), 1);
  priors.count(link(30, 5e6, 0.01), -1);
  expect([priors.goodput(30), priors.loss(30)]).toEqual(before);
});
