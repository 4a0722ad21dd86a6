import { describe, expect, test } from 'vitest';
import { TEST_LINKS, testConfig } from '../../testing/start-master.ts';
import { LinkTable } from '../links/link-table.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { Planner } from './planner.ts';
import type { Route, RouteQuery } from './route.ts';

const NOW = 1_795_000_000_000;

const depotsIn = (state: PlanningDepot['state'], ...ids: string[]): PlanningDepot[] =>
  ids.map((id) => ({ id, tls: false, state }));
const UP = depotsIn('up', 'd1', 'd2', 'd3');

interface Situation {
  readonly links?: readonly object[];
  readonly planner?: object;
  readonly depots?: readonly PlanningDepot[];
  readonly query?: Partial<RouteQuery>;
}

function routeIn({ links = TEST_LINKS, planner = {}, depots = UP, query = {} }: Situation): Route {
  const config = testConfig({ links, planner });
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const ask = { sizeBytes: 1e9, originTls: false, ...query };
  const planned = new Planner(config.planner, table).plan(ask, depots, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

describe('a program can tell why', () => {
  const near = TEST_LINKS.map((link, index) => (index === 0 ? { ...link, rttMs: 4, lossRate: 0 } : link));
  const mixed = [...depotsIn('lost', 'd1', 'd2'), ...depotsIn('draining', 'd3')];

  test.each<[string, Situation, string, RegExp]>([
    ['a chain was taken', {}, 'chain-faster', /times faster/],
    ['the chain was chosen', { query: { via: ['d2', 'd1'] } }, 'chain-asked', /chosen by the client/],
    ['there is no overlay yet', { depots: [] }, 'no-depots', /has no depots/],
    ['every depot is lost or drains', { depots: mixed }, 'no-depot-up', /No depot is up/],
    ['the operator wants no chains', { planner: { maxDepots: 0 } }, 'chains-off', /turned chains off/],
    [
      'the request avoids all depots',
      { query: { avoid: ['d1', 'd2', 'd3'] } },
      'depots-avoided',
      /avoids depots/,
    ],
    [
      'the request avoids the one that counts',
      { query: { avoid: ['d2'] }, links: TEST_LINKS },
      'depots-avoided',
      /avoids depots/,
    ],
    ['no links are known', { links: [] }, 'links-unknown', /no chain of known links/],
    [
      'no links lead to the origin',
      { links: TEST_LINKS.slice(0, 3) },
      'links-unknown',
      /no chain of known links/,
    ],
    ['the file is a mouse', { query: { sizeBytes: 4000 } }, 'small-file', /larger file would gain/],
    ['the origin is near', { links: near }, 'no-gain', /at least 1.1 times faster/],
    ['a mouse lies near', { links: near, query: { sizeBytes: 4000 } }, 'no-gain', /at least 1.1/],
    ['an avoided depot would not have helped', { links: near, query: { avoid: ['d3'] } }, 'no-gain', /1\.1/],
    [
      'nothing is known, whatever is avoided',
      { links: [], query: { avoid: ['d3'] } },
      'links-unknown',
      /no chain of known links/,
    ],
  ])('%s', (_, situation, reason, sentence) => {
    const planned = routeIn(situation);
    expect(planned.decisionReason).toBe(reason);
    expect(planned.decision).toBe(reason.startsWith('chain-') ? 'chain' : 'direct');
    expect(planned.reasons.join(' ')).toMatch(sentence);
  });
});

describe('every figure of a plan says how it is known', () => {
  const sourcesOf = ({ prediction }: Route) =>
    prediction.legs.map(({ rttSource, goodputSource }) => `${rttSource}/${goodputSource}`);

  test('what the operator typed in is configured', () => {
    const planned = routeIn({});
    expect(sourcesOf(planned)).toEqual(Array(3).fill('configured/configured'));
    expect(planned.prediction.source).toBe('configured');
    expect(planned.direct).toMatchObject({ source: 'configured', legs: [{ rttSource: 'configured' }] });
  });

  test('the direct way without a link of its own is derived', () => {
    const planned = routeIn({ links: TEST_LINKS.slice(1) });
    expect(planned.direct).toMatchObject({ source: 'derived', legs: [{ goodputSource: 'derived' }] });
  });

  test('where nothing is known, the figures are assumed', () => {
    const planned = routeIn({ links: [], depots: [] });
    expect(planned.prediction).toMatchObject({ source: 'assumed', legs: [{ rttSource: 'assumed' }] });
    const chosen = routeIn({ query: { via: ['d2', 'd3', 'd1'] } });
    expect(sourcesOf(chosen)[1], 'd3 - d1').toBe('assumed/assumed');
    expect(sourcesOf(chosen)[2], 'd2 - d3').toBe('configured/configured');
    expect(chosen.prediction.source).toBe('assumed');
  });

  test('what depots measured is measured, with its age; a rate that they did not measure stays configured', () => {
    const config = testConfig();
    const table = new LinkTable(config.links, 1e6);
    const plan = () => {
      const planned = new Planner(config.planner, table).plan({ sizeBytes: 1e9, originTls: false }, UP, NOW);
      if (!planned.ok) throw planned.error;
      return planned.value;
    };
    table.report('d1', { to: 'd2', rttMs: 190 }, NOW - 7000);
    expect(plan().prediction.legs[1]).toMatchObject({
      rttSource: 'measured',
      goodputSource: 'configured',
      measuredAgeMs: 7000,
    });
    table.report('d1', { to: 'd2', rttMs: 190, goodputBps: 9e8 }, NOW - 5000);
    expect(plan().prediction.legs[1]).toMatchObject({
      rttSource: 'measured',
      goodputSource: 'measured',
      measuredAgeMs: 5000,
    });
    expect(plan().prediction.legs[0]?.measuredAgeMs).toBeUndefined();
    expect(plan().prediction.source, 'the least sure figure counts').toBe('configured');
  });
});
