import { expect, test } from 'vitest';
import { OriginProbes } from './origin-probes.ts';
import { OriginTable } from './origin-table.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;
const CLIENT = '198.51.100.7';
const origin = { host: 'origin.example', port: 443 };

/** Depots in a row, 20 ms apart. */
function row(count: number, lostAfterMs = 15_000) {
  const origins = new OriginTable();
  const outcomes: string[] = [];
  const rttMs = (one: string, other: string) => 20 * Math.abs(Number(one.slice(1)) - Number(other.slice(1)));
  const links = {
    estimate: (one: string, other: string) => ({ rttMs: rttMs(one, other) }),
  };
  const gone = new Set<string>();
  const probes = new OriginProbes({
    origins,
    links,
    lostAfterMs,
    isThere: (depot) => !gone.has(depot),
    onProbe: (outcome) => outcomes.push(outcome),
  });
  const depots = Array.from({ length: count }, (_, index) => ({ id: `d${index}`, state: 'up' }));
  return { origins, probes, outcomes, depots, gone, ids: depots.map(({ id }) => id) };
}

test('an origin that nobody knows is probed by the depots that are heard, each once, four at most in an hour', () => {
  const { probes, depots, ids, outcomes } = row(4);
  for (const id of ids) expect(probes.next(id, depots, NOW)).toBeUndefined();
  probes.want(origin, CLIENT, NOW);
  for (const id of ids) expect(probes.next(id, depots, NOW)).toEqual(origin);
  for (let minute = 0; minute < 59; minute += 1) {
    probes.want(origin, CLIENT, NOW + minute * MINUTE_MS);
    for (const id of ids) expect(probes.next(id, depots, NOW + minute * MINUTE_MS)).toBeUndefined();
  }
  probes.want(origin, CLIENT, NOW + 61 * MINUTE_MS);
  expect(probes.next('d0', depots, NOW + 61 * MINUTE_MS)).toEqual(origin);
  expect(outcomes.filter((outcome) => outcome === 'told')).toHaveLength(5);
});

/** What a depot of the row sees of an origin beside another one. */
const seenFrom = (id: string, beside: number) => ({
  host: origin.host,
  rttMs: 20 * Math.abs(Number(id.slice(1)) - beside) + 2,
});

test('among many depots the one is asked next that may be nearest by what the first two have found', () => {
  const { probes, origins, depots, ids } = row(30);
  probes.want(origin, CLIENT, NOW);
  for (const id of ['d15', 'd29']) expect(probes.next(id, depots, NOW)).toEqual(origin);
  origins.report('d15', seenFrom('d15', 5), NOW);
  // The other one has not said yet what it found.
  for (const id of ids) expect(probes.next(id, depots, NOW)).toBeUndefined();
  origins.report('d29', seenFrom('d29', 5), NOW);
  const told = ids.filter((id) => probes.next(id, depots, NOW));
  expect(told).toEqual(['d5']);
  origins.report('d5', seenFrom('d5', 5), NOW);
  for (const id of ids) expect(probes.next(id, depots, NOW)).toBeUndefined();
});

test('depots that come once in two minutes are told, and the nearest is found among them', () => {
  const betweenMs = 120_000;
  const { probes, origins, depots } = row(30, 3 * betweenMs);
  for (const { id } of depots) probes.next(id, depots, NOW);
  probes.want(origin, CLIENT, NOW + 1000);
  const nowMs = NOW + betweenMs;
  for (const id of ['d15', 'd29']) {
    expect(probes.next(id, depots, nowMs)).toEqual(origin);
    origins.report(id, seenFrom(id, 5), nowMs);
  }
  expect(depots.filter(({ id }) => probes.next(id, depots, nowMs + betweenMs))).toMatchObject([{ id: 'd5' }]);
});

test('an origin that stands beside the first two is looked for by a far one as well, and by another one where that is near it, too', () => {
  const toldIn = (isEverywhere: boolean) => {
    const { probes, origins, depots, ids } = row(30);
    probes.want(origin, CLIENT, NOW);
    const all: string[] = [];
    for (;;) {
      const told = ids.filter((id) => probes.next(id, depots, NOW));
      if (told.length === 0) return all;
      for (const id of told)
        origins.report(id, isEverywhere ? { host: origin.host, rttMs: 8 } : seenFrom(id, 0), NOW);
      all.push(...told);
    }
  };
  expect(toldIn(false)).toEqual(['d0', 'd1', 'd29']);
  expect(toldIn(true)).toEqual(['d0', 'd1', 'd29', 'd15']);
});

test('of depots that come to another master none is waited for', () => {
  const { probes, origins, depots, ids } = row(30);
  const here = ids.filter((id) => id !== 'd3' && id !== 'd4');
  for (let second = 0; second <= 60; second += 5)
    for (const id of here) probes.next(id, depots, NOW + 1000 * second);
  const nowMs = NOW + 61_000;
  for (const id of ['d20', 'd22']) origins.report(id, seenFrom(id, 3), nowMs);
  probes.want(origin, CLIENT, nowMs);
  const told = here.filter((id) => probes.next(id, depots, nowMs));
  expect(told).toHaveLength(1);
  expect(['d2', 'd5']).toContain(told[0]);
});

test('where those that were asked do not reach an origin, others are asked', () => {
  const { probes, depots, ids } = row(30);
  probes.want(origin, CLIENT, NOW);
  const toldAt = (nowMs: number) => ids.filter((id) => probes.next(id, depots, nowMs));
  expect(toldAt(NOW)).toEqual(['d0', 'd1']);
  expect(toldAt(NOW + 5_000)).toEqual([]);
  expect(toldAt(NOW + 11_000)).toHaveLength(1);
});

test('the depot beside an origin is found that only far ones have brought, and only that one is asked', () => {
  const { probes, origins, depots, ids, outcomes } = row(30);
  for (const id of ['d20', 'd22', 'd25', 'd29']) origins.report(id, seenFrom(id, 3), NOW);
  // What is brought all the time counts for no client network as something new.
  for (let second = 0; second < 300; second += 1) {
    const nowMs = NOW + second * 1000;
    probes.want(origin, CLIENT, nowMs);
    const told = ids.filter((id) => probes.next(id, depots, nowMs));
    expect(told).toEqual(second === 0 ? ['d3'] : []);
    if (second === 0) origins.report('d3', seenFrom('d3', 3), nowMs);
  }
  expect(outcomes).toEqual(['told']);
});

test('an origin that three depots know is left alone, and so is one that nobody asks for any more', () => {
  const { probes, origins, depots } = row(5);
  for (const id of ['d0', 'd1', 'd2']) origins.report(id, { host: origin.host, rttMs: 20 }, NOW);
  probes.want(origin, CLIENT, NOW);
  expect(probes.next('d3', depots, NOW)).toBeUndefined();
  probes.want({ host: 'other.example', port: 443 }, CLIENT, NOW);
  expect(probes.next('d3', depots, NOW + 2 * MINUTE_MS)).toBeUndefined();
});

test('an origin is probed again a day after it was measured, and by those that measured it where it is no more', () => {
  const { probes, origins, depots } = row(5);
  const old = { host: origin.host, rttMs: 20, prefix: '203.0.113.0/24' };
  for (const id of ['d0', 'd1', 'd2']) origins.report(id, old, NOW);
  const soon = NOW + 2 * 60 * MINUTE_MS;
  probes.want(origin, CLIENT, soon);
  expect(probes.next('d1', depots, soon)).toBeUndefined();
  origins.report('d2', { ...old, rttMs: 80, prefix: '192.0.2.0/24' }, soon);
  probes.want(origin, CLIENT, soon);
  expect(probes.next('d2', depots, soon)).toBeUndefined();
  expect(probes.next('d1', depots, soon)).toEqual(origin);
  const other = { host: 'other.example', port: 443 };
  for (const id of ['d0', 'd1', 'd2']) origins.report(id, { ...old, host: other.host }, NOW);
  const nextDay = NOW + 25 * 60 * MINUTE_MS;
  probes.want(other, CLIENT, nextDay);
  expect(probes.next('d0', depots, nextDay)).toEqual(other);
});

test('an origin that answers each part of the world from another place is left alone once three depots know it', () => {
  const { probes, origins, depots, ids } = row(5);
  for (const [number, id] of ['d0', 'd1', 'd2'].entries()) {
    const atMs = NOW + number * 120 * MINUTE_MS;
    origins.report(id, { host: origin.host, rttMs: 20, prefix: `203.0.${number >> 1}.0/24` }, atMs);
  }
  for (let hour = 5; hour < 12; hour += 1) {
    const nowMs = NOW + hour * 60 * MINUTE_MS;
    probes.want(origin, CLIENT, nowMs);
    for (const id of ids) expect(probes.next(id, depots, nowMs)).toBeUndefined();
  }
});

test('what depots have measured that are gone counts for none', () => {
  const { probes, origins, depots, gone } = row(5);
  for (const id of ['d0', 'd1', 'd2']) origins.report(id, { host: origin.host, rttMs: 20 }, NOW);
  gone.add('d0');
  probes.want(origin, CLIENT, NOW);
  expect(probes.next('d3', depots.slice(1), NOW)).toEqual(origin);
});

test('a client network has only so many origins probed in an hour, and that is counted', () => {
  const { probes, depots, outcomes } = row(2);
  for (let host = 0; host < 500; host += 1) {
    probes.want({ host: `h${host}.example`, port: 443 }, `198.51.100.${host % 250}`, NOW);
    probes.next('d0', depots, NOW);
  }
  expect(outcomes.filter((outcome) => outcome === 'told')).toHaveLength(60);
  expect(outcomes.filter((outcome) => outcome === 'network-used-up')).toHaveLength(440);
  probes.want(origin, '203.0.113.7', NOW);
  expect(probes.next('d1', depots, NOW)).toBeDefined();
});

test('a depot that is not up is asked for nothing', () => {
  const { probes, depots } = row(2);
  probes.want(origin, CLIENT, NOW);
  const draining = depots.map((depot) => ({ ...depot, state: 'draining' }));
  expect(probes.next('d0', draining, NOW)).toBeUndefined();
});

test('an origin of which cannot be remembered that it was probed is not probed', () => {
  const { probes, depots } = row(4);
  probes.want({ host: 'a.'.repeat(200), port: 443 }, CLIENT, NOW);
  probes.want(origin, CLIENT, NOW);
  for (const { id } of depots) expect(probes.next(id, depots, NOW)).toEqual(origin);
});
