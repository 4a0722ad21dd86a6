import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClassMember, LearnedPriors } from './learned-priors.ts';

const link = (rttMs: number, goodputBps: number | undefined, lossRate = 0): ClassMember => {
  return { rttMs, goodputBps, sentBytes: 1e9, lostBytes: 1e9 * lossRate };
};

/** Priors after `links` links of each of these depots. */
function told(depots: readonly string[], links: number, like: (index: number) => ClassMember): LearnedPriors {
  const priors = new LearnedPriors(100e6);
  for (const depot of depots)
    for (let index = 0; index < links; index += 1) priors.replace(depot, undefined, like(index));
  return priors;
}

const many = (depots: number) => Array.from({ length: depots }, (_, number) => `d${number}`);

test('links of a class tell what another one of it may be like, and nothing of other classes', () => {
  expect(new LearnedPriors(100e6).goodput(100)).toMatchObject({ value: 100e6, source: 'assumed' });
  const priors = told(many(200), 5, () => link(100, 10e6, 0.004));
  expect(priors.goodput(80).value).toBeLessThan(12e6);
  expect(priors.goodput(80)).toMatchObject({ source: 'derived' });
  expect(priors.goodput(80).between).toBeLessThan(0.7);
  expect(priors.loss(140)).toBeCloseTo(0.004, 3);
  expect(priors.goodput(3).value).toBeCloseTo(100e6);
  expect(priors.loss(400)).toBeCloseTo(3e-4);
});

test('a class whose links differ says little of each', () => {
  const priors = told(many(50), 4, (index) => link(10, index % 2 ? 1e6 : 1e9));
  expect(priors.goodput(10).between).toBeGreaterThan(2.5);
});

test('a depot that tells of a thousand links is heard as much as one that tells of three', () => {
  const told = (links: number) => {
    const priors = new LearnedPriors(100e6);
    for (let index = 0; index < links; index += 1) priors.replace('d1', undefined, link(100, 1e9));
    return priors.goodput(100).value;
  };
  expect(told(1000) / told(3)).toBeCloseTo(1, 5);
  expect(told(1)).toBeLessThan(told(3));
});

test('what is counted no more leaves nothing behind', () => {
  const priors = new LearnedPriors(100e6);
  const before = [priors.goodput(30), priors.loss(30)];
  const [one, other] = [link(30, 5e6, 0.01), link(30, 7e6, 0.02)];
  for (const [old, now] of [
    [undefined, one],
    [one, other],
    [other, undefined],
  ] as const) {
    priors.replace('d1', old, now);
    priors.goodput(30);
  }
  expect([priors.goodput(30), priors.loss(30)]).toEqual(before);
});

test('what is told anew counts as if it alone had been told', () => {
  const member = fc.record({
    rttMs: fc.constantFrom(4, 30, 100),
    goodputBps: fc.option(fc.double({ min: 1e6, max: 1e9, noNaN: true }), { nil: undefined }),
    sentBytes: fc.constantFrom(0, 1e6),
    lostBytes: fc.constantFrom(0, 1e3),
  });
  const told = fc.array(
    fc.tuple(fc.constantFrom('d1', 'd2'), fc.nat(3), fc.option(member, { nil: undefined })),
  );
  const figuresOf = (priors: LearnedPriors) =>
    [4, 30, 100].flatMap((rttMs) => [priors.goodput(rttMs), priors.loss(rttMs)]);
  fc.assert(
    fc.property(told, (changes) => {
      const last = new Map<string, readonly [depot: string, now: ClassMember | undefined]>();
      const inTurn = new LearnedPriors(100e6);
      for (const [depot, number, now] of changes) {
        inTurn.replace(depot, last.get(`${depot} ${number}`)?.[1], now);
        last.set(`${depot} ${number}`, [depot, now]);
        inTurn.goodput(30);
      }
      const atOnce = new LearnedPriors(100e6);
      for (const [depot, now] of last.values()) atOnce.replace(depot, undefined, now);
      expect(figuresOf(inTurn)).toEqual(figuresOf(atOnce));
    }),
  );
});

describe('nobody moves what is usual by more than a fifth', () => {
  const rate = fc.double({ min: 1, max: 1e12, noNaN: true });
  const loss = fc.double({ min: 0, max: 1, noNaN: true });
  const member = fc.tuple(rate, loss).map(([goodputBps, lossRate]) => link(100, goodputBps, lossRate));
  const depots = fc.array(fc.array(member, { maxLength: 40 }), { maxLength: 12 });
  const priorsOf = (all: readonly (readonly ClassMember[])[]) => {
    const priors = new LearnedPriors(100e6);
    for (const [number, members] of all.entries())
      for (const one of members) priors.replace(`d${number}`, undefined, one);
    return priors;
  };
  /** By which factor, up or down, what is expected of links differs at most. */
  const factorBetween = (one: LearnedPriors, other: LearnedPriors) => {
    const factors = [one.goodput(100).value / other.goodput(100).value, one.loss(100) / other.loss(100)];
    return Math.max(...factors.map((factor) => Math.max(factor, 1 / factor)));
  };
  /** What is worked out in steps is exact to so much. */
  const fifth = 1.2 + 1e-6;

  test('a depot, whatever it tells, of however many links', () => {
    const lies = fc.array(member, { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(depots, lies, (honest, told) => {
        const [without, having] = [priorsOf(honest), priorsOf(honest)];
        for (const lie of told) having.replace('liar', undefined, lie);
        expect(factorBetween(having, without)).toBeLessThanOrEqual(fifth);
      }),
    );
  });

  test('one link, such as that to a client network', () => {
    fc.assert(
      fc.property(depots, member, (honest, lie) => {
        const [without, having] = [priorsOf(honest), priorsOf(honest)];
        having.replace('d0', undefined, lie);
        expect(factorBetween(having, without)).toBeLessThanOrEqual(fifth);
      }),
    );
  });
});
