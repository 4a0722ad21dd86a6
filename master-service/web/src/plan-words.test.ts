import type { DecisionReason, FigureSource, PlanAnswer } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { planWords } from './plan-words.ts';
import { leg, plan, prediction } from './testing/plan.ts';

const legs = (...sources: FigureSource[]) => sources.map((source, index) => leg(`d${index}`, 'x', source));

/** The plan for a file nobody has seen, over links that the operator typed in. */
function unseen(patch: Partial<PlanAnswer> = {}): PlanAnswer {
  return plan({
    sizeSource: 'assumed',
    sizeBytes: 100e6,
    fileSeen: false,
    prediction: prediction(9, 'configured', legs('configured', 'configured', 'configured')),
    direct: prediction(252, 'configured', legs('configured')),
    ...patch,
  });
}

describe('a plan with a chain', () => {
  test('promises a gain where file, size and all links are known by measurement', () => {
    expect(planWords(plan())).toEqual({
      heading: 'About 10 s, 4.0 times faster than direct',
      claim:
        'One direct connection would take about 40 s. Depots have measured all links, and one of them has fetched this file (31.5 MB).',
      conditions: [],
    });
  });

  test('promises nothing for a file that nobody has seen, over links that nobody has measured', () => {
    const { heading, claim, conditions } = planWords(unseen());
    expect(heading).toBe('Through 2 depots: d1 and d3');
    expect(claim).toBe('About 9.0 s, instead of about 4 min over one direct connection, if');
    expect(conditions).toEqual([
      'the file has 100 MB: that is an assumption, because nobody has told this master its size;',
      'the file exists and its server is fast enough: as far as this master knows, no depot has fetched it yet;',
      'the links and the direct way are as fast as the operator typed in: nobody has measured them.',
    ]);
  });

  test.each<[string, Partial<PlanAnswer>, RegExp]>([
    ['a size that the visitor gave', { sizeSource: 'option' }, /has 31.5 MB, as you say/],
    ['an assumed size', { sizeSource: 'assumed' }, /has 31.5 MB: that is an assumption/],
    [
      'a file that no depot has fetched',
      { fileSeen: false, sizeSource: 'option' },
      /no depot has fetched it/,
    ],
    [
      'one link that was typed in',
      { prediction: prediction(10, 'configured', legs('measured', 'configured', 'measured')) },
      /1 of the 3 links is as fast as the operator typed in: nobody has measured it/,
    ],
    [
      'links of which nothing is known',
      { prediction: prediction(10, 'assumed', legs('assumed', 'configured', 'assumed')) },
      /1 of the 3 links is as fast as the operator typed in.*2 of the 3 links are as fast as this master assumes: nothing is known of them/,
    ],
    [
      'a direct way that was put together',
      { direct: prediction(40, 'derived', legs('derived')) },
      /direct connection is as slow as the links of the chain put together/,
    ],
    [
      'a direct way that was typed in',
      { direct: prediction(40, 'configured', legs('configured')) },
      /direct connection is as slow as the operator typed in/,
    ],
    [
      'a rate that was typed in, beside a measured round trip',
      {
        prediction: prediction(10, 'configured', [
          { ...leg('d1', 'client', 'measured'), goodputSource: 'configured' },
        ]),
      },
      /the link is as fast as the operator typed in/,
    ],
  ])('says its condition, and names no factor: %s', (_, patch, condition) => {
    const words = planWords(plan(patch));
    expect(words.heading).not.toContain('faster');
    expect(words.claim).toMatch(/, if$/);
    expect(words.conditions.join(' ')).toMatch(condition);
  });

  test('that was asked for and is slower is called neither fast nor faster', () => {
    const words = planWords(
      plan({ decisionReason: 'chain-asked', prediction: prediction(60, 'measured', legs('measured')) }),
    );
    expect(words.heading).toBe('Through 2 depots: d1 and d3, as asked');
    expect(words.claim).toMatch(/^About 60 s\. One direct connection would take about 40 s\./);
  });
});

describe('a direct plan', () => {
  const direct = (decisionReason: DecisionReason, patch: Partial<PlanAnswer> = {}) => {
    const way = prediction(8, 'configured', legs('configured'));
    return planWords(unseen({ decision: 'direct', decisionReason, prediction: way, direct: way, ...patch }));
  };

  test.each<[DecisionReason, string]>([
    ['no-depots', 'Direct: this master has no depots yet'],
    ['no-depot-up', 'Direct: no depot is up'],
    ['chains-off', 'Direct: this master plans no chains'],
    ['direct-preferred', 'Direct: clients of this network asked for it'],
    ['depots-avoided', 'Direct: the depots that could help are to be avoided'],
    ['links-unknown', 'Direct: depots are up, but no links over them are known'],
    ['chain-disappoints', 'Direct: over a chain downloads took too long, of late'],
    ['small-file', 'Direct: a file of 100 MB is too small to gain from a chain'],
    ['no-gain', 'Direct: no chain would be clearly faster'],
  ])('says why: %s', (reason, heading) => {
    expect(direct(reason).heading).toBe(heading);
  });

  test('says under which conditions its time holds', () => {
    expect(direct('no-gain')).toMatchObject({
      claim: 'About 8.0 s over one direct connection, if',
      conditions: [
        expect.stringContaining('100 MB'),
        expect.any(String),
        expect.stringContaining('the link is'),
      ],
    });
  });

  test('says what its time was put together from', () => {
    const way = prediction(8, 'derived', legs('derived'));
    expect(direct('no-gain', { prediction: way, direct: way }).conditions.at(-1)).toBe(
      'the direct way is as fast as the links over depots put together: nobody has measured it.',
    );
  });

  test('says no time where nothing at all is known of the way', () => {
    const way = prediction(8, 'assumed', legs('assumed'));
    const words = direct('no-depots', { prediction: way, direct: way });
    expect(words.claim).toBe(
      'Nothing is known of the way between you and the origin, so nobody can say how long it takes.',
    );
    expect(words.conditions).toEqual([]);
  });
});
