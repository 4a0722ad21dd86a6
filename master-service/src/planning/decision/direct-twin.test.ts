import { CLIENT, ORIGIN } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import type { LinkEstimate } from '../links/link-view.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import { directTwin } from './direct-twin.ts';

const LEG: LinkEstimate = {
  rttMs: 3,
  lossRate: 0,
  rateBps: 1e8,
  windowBytes: 3e6,
  goodputBps: 1e8,
  ageMs: 1000,
  rateSource: 'measured',
};
const rated = { chain: ['d1'], lanes: 4 } as unknown as RatedChain;

/** The chain over d1, whose leg to the origin is like this, where direct takes ten seconds. */
function twin(
  toOrigin: Partial<LinkEstimate>,
  seconds = 11,
  more: Partial<Parameters<typeof directTwin>[0]> = {},
) {
  const legs: Readonly<Record<string, LinkEstimate>> = {
    [`${CLIENT} d1`]: LEG,
    [`d1 ${ORIGIN}`]: { ...LEG, rttMs: 100, ...toOrigin },
  };
  return directTwin({
    via: 'd1',
    link: (one, other) => legs[`${one} ${other}`],
    rate: () => rated,
    directTimes: () => [10, 10],
    times: () => [9, seconds],
    exploring: { mostRegret: 0.25 },
    ...more,
  });
}

describe('the chain that shows what the direct way is like', () => {
  test('is taken, with one lane, where the long leg has carried nothing yet, or nothing for five minutes', () => {
    for (const leg of [{ rateSource: 'assumed' }, { ageMs: 300_000 }] as const)
      expect(twin(leg)).toEqual({ ...rated, lanes: 1 });
    expect(twin({ ageMs: 299_999 })).toBeUndefined();
  });

  test('is taken for no leg that is typed in, whose rate nobody has to learn', () => {
    const { rateSource: _, ...typed } = LEG;
    const link = (one: string) => (one === CLIENT ? LEG : { ...typed, rttMs: 100 });
    expect(twin({}, 11, { link })).toBeUndefined();
  });

  test('is not taken where it may cost more than may be', () => {
    const leg = { rateSource: 'assumed' } as const;
    expect([twin(leg, 12.5), twin(leg, 12.6)]).toEqual([{ ...rated, lanes: 1 }, undefined]);
    expect(twin(leg, 12.6, { exploring: { mostRegret: 0.5 } })).toBeDefined();
    expect(twin(leg, 11, { exploring: undefined })).toBeUndefined();
  });

  test('is explained as what it was, and for no other chain that was given to learn by', () => {
    const given = (chain: string[]) => twin({}, 99, { exploring: { mostRegret: Infinity, chain } });
    expect([given(['d1']), given(['d1', 'd2'])]).toEqual([{ ...rated, lanes: 1 }, undefined]);
  });
});
