import { ok } from '@longhaul/shared';
import { expect, test, vi } from 'vitest';
import { testConfig } from '../../testing/start-master.ts';
import { Planner } from '../decision/planner.ts';
import type { RouteQuery } from '../decision/route.ts';
import { LinkTable } from '../links/link-table.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { DownloadRequest } from './issued-plan.ts';
import { RouteChooser } from './route-chooser.ts';
import type { SizeEstimate } from './size-estimate.ts';

const NOW = 1_795_000_000_000;
const SIZE: SizeEstimate = {
  sizeBytes: 1e9,
  mostBytes: 1e9,
  source: 'assumed',
  fileSeen: false,
  isWholeOnly: false,
};

function setUp() {
  const config = testConfig();
  const planner = new Planner(config.planner, new LinkTable(config.links, 3e6));
  const plan = vi.spyOn(planner, 'plan');
  const depots = ['d1', 'd2', 'd3'].map((id): PlanningDepot => ({ id, tls: false, state: 'up' }));
  const registry = { views: () => depots, failuresPerSecond: 0 };
  const chooser = new RouteChooser({ config, publicUrl: () => 'http://get.example', planner, registry });
  const choose = (changes: Partial<DownloadRequest> = {}, known = {}, nowMs = NOW) => {
    const url = { scheme: 'https', host: 'origin.example', port: 443, path: '/a', query: null } as const;
    const request: DownloadRequest = {
      url,
      options: {},
      kind: 'get',
      clientAddress: '192.0.2.1',
      ...changes,
    };
    const all = { size: SIZE, client: {}, given: undefined, upDepots: 'd1,d2,d3', known: '', ...known };
    return chooser.choose(request, all, nowMs);
  };
  return { choose, chooser, plan };
}

const url = (path: string, host = 'origin.example') =>
  ({ scheme: 'https', host, port: 443, path, query: null }) as const;

test('a page with many links of one origin is decided about once in a second', () => {
  const { choose, plan } = setUp();
  const first = choose({ url: url('/a') });
  expect(first).toMatchObject({ ok: true, value: { chain: ['d1', 'd2'] } });
  for (let index = 0; index < 100; index += 1) expect(choose({ url: url(`/${index}`) })).toEqual(first);
  expect(plan).toHaveBeenCalledOnce();
  choose({}, {}, NOW + 1000);
  expect(plan).toHaveBeenCalledTimes(2);
});

test('a page with many links is decided about twice where some of them may be used to learn, and no two in a row are', () => {
  let plans = 0;
  const planner = {
    plan: ({ exploring }: RouteQuery) => {
      plans += 1;
      return ok({ chain: [], decisionReason: exploring ? 'to-learn' : 'no-gain', expectedSeconds: 0 });
    },
  } as unknown as Planner;
  const config = testConfig();
  const chooser = new RouteChooser({
    publicUrl: () => 'http://get.example',
    config: { planner: { ...config.planner, explore: { share: 0.5, mostRegret: 1 } } },
    planner,
    registry: { views: () => [], failuresPerSecond: 0 },
    random: () => 0,
  });
  const reasons = Array.from({ length: 6 }, (_, index) => {
    const request = { url: url(`/${index}`), options: {}, kind: 'get', clientAddress: '192.0.2.1' } as const;
    const known = { size: SIZE, client: {}, given: undefined, upDepots: '', known: '' };
    const route = chooser.choose(request, known, NOW);
    return route.ok && route.value.decisionReason;
  });
  expect(reasons).toEqual(['to-learn', 'no-gain', 'to-learn', 'no-gain', 'to-learn', 'no-gain']);
  expect(plans).toBe(2);
});

test.each([
  ['another client', { clientAddress: '192.0.2.2' }, {}],
  ['another origin', { url: url('/a', 'other.example') }, {}],
  ['another kind', { kind: 'tunnel' as const }, {}],
  ['another size', {}, { size: { ...SIZE, sizeBytes: 2e9 } }],
  ['a size that is known', {}, { size: { ...SIZE, source: 'reported' } }],
  ['a file that comes whole or not at all', {}, { size: { ...SIZE, isWholeOnly: true } }],
  ['depots to avoid', { options: { avoid: ['d3'] } }, {}],
  ['other depots that are up', {}, { upDepots: 'd1,d2' }],
  ['an origin of which more is measured', {}, { known: 'more' }],
])('%s is decided about by itself', (_, changes, known) => {
  const { choose, plan } = setUp();
  choose();
  choose(changes, known);
  expect(plan).toHaveBeenCalledTimes(2);
});

test('what has changed is decided about again at once', () => {
  const { choose, chooser, plan } = setUp();
  choose();
  chooser.noteChange();
  choose();
  expect(plan).toHaveBeenCalledTimes(2);
});

test('what clients of a network have said counts at once, and is nothing that others get', () => {
  const config = testConfig();
  const asked: RouteQuery[] = [];
  const planner = {
    plan: (query: RouteQuery) => {
      asked.push(query);
      return ok({ chain: [], decisionReason: 'no-gain', expectedSeconds: 0 });
    },
  } as unknown as Planner;
  const said = { isEmpty: true, avoided: [] as string[] };
  const wishes = {
    get isEmpty() {
      return said.isEmpty;
    },
    avoidedBy: (network: string) => (network === '192.0.2.0/24' ? said.avoided : []),
    prefersDirect: () => false,
  };
  const chooser = new RouteChooser({
    publicUrl: () => 'http://get.example',
    config,
    planner,
    registry: { views: () => [], failuresPerSecond: 0 },
    wishes,
  });
  const choose = (clientAddress: string) =>
    chooser.choose(
      { url: url('/a'), options: {}, kind: 'get', clientAddress },
      { size: SIZE, client: {}, given: undefined, upDepots: '', known: '' },
      NOW,
    );
  choose('192.0.2.1');
  Object.assign(said, { isEmpty: false, avoided: ['d1'] });
  choose('192.0.2.1');
  choose('198.51.100.1');
  expect(asked.map(({ avoid }) => avoid)).toEqual([undefined, ['d1'], undefined]);
});

test('a download is planned by where its host leads, if a depot has met that, and a tunnel by the host that it is for', () => {
  const asked: (string | undefined)[] = [];
  const planner = {
    plan: ({ ends }: RouteQuery) => {
      asked.push(ends?.origin);
      return ok({ chain: [], decisionReason: 'no-gain', expectedSeconds: 0 });
    },
  } as unknown as Planner;
  const led = { host: 'storage.example', port: 443, isAgreed: false, isOwn: true };
  const kinds = ['get', 'get', 'tunnel'] as const;
  for (const [index, kind] of kinds.entries()) {
    const chooser = new RouteChooser({
      publicUrl: () => 'http://get.example',
      config: testConfig(),
      planner,
      registry: { views: () => [], failuresPerSecond: 0 },
      leads: {
        mayLead: () => true,
        of: ({ network, host }) =>
          network === '192.0.2.0/24' && host === 'origin.example' ? { ...led, isMet: index > 0 } : undefined,
      },
    });
    const known = { size: SIZE, client: {}, given: undefined, upDepots: '', known: '' };
    const request = { url: url('/a'), options: {}, kind, clientAddress: '192.0.2.1' };
    chooser.choose(request, known, NOW);
    expect(chooser.rerouteQuery(request, known, NOW).ends?.origin).toBe(asked[index]);
  }
  expect(asked).toEqual(['origin.example', 'storage.example', 'origin.example']);
});

test('an exit has to reach where a host leads, if several depots say so or the network’s own downloads do', () => {
  const of = (by: { isAgreed: boolean; isOwn: boolean }, kind: 'get' | 'tunnel' = 'get') => {
    const asked: string[] = [];
    const chooser = new RouteChooser({
      publicUrl: () => 'http://get.example',
      config: testConfig(),
      planner: {} as Planner,
      registry: { views: () => [], failuresPerSecond: 0 },
      leads: {
        mayLead: () => true,
        of: () => ({ host: 'storage.example', port: 443, isMet: true, ...by }),
      },
      unreachedOrigins: {
        by: (origins) => {
          asked.push(...origins.map(({ host }) => host));
          return new Set();
        },
      },
    });
    chooser.notExits({ url: url('/a'), kind, clientAddress: '192.0.2.1' }, NOW);
    return asked;
  };
  const both = ['origin.example', 'storage.example'];
  expect(of({ isAgreed: false, isOwn: false })).toEqual(['origin.example']);
  expect(of({ isAgreed: true, isOwn: false })).toEqual(both);
  expect(of({ isAgreed: false, isOwn: true })).toEqual(both);
  expect(of({ isAgreed: true, isOwn: true }, 'tunnel')).toEqual(['origin.example']);
});
