import { expect, test } from 'vitest';
import { fullBpsOf, OriginTable, roomForSeveralBps } from './origin-table.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const HOST = 'origin.example';
const seen = {
  host: HOST,
  prefix: '203.0.113.0/24',
  rttMs: 100,
  receivedBytes: 100_000_000,
  lostBytes: 100_000,
  goodputBps: 4e6,
};

test('an origin is known by what it showed, for each depot by itself', () => {
  const table = new OriginTable();
  for (let report = 0; report < 5; report += 1) table.report('d1', seen, NOW);
  const { rttMs, goodputBps, lossRate } = table.distribution('d1', HOST, NOW);
  expect(Math.abs(rttMs.value / 100 - 1)).toBeLessThan(0.05);
  expect(Math.abs(goodputBps.value / 4e6 - 1)).toBeLessThan(0.1);
  expect(Math.abs(lossRate.value / 1e-3 - 1)).toBeLessThan(0.1);
  expect(table.distribution('d2', HOST, NOW).rttMs.source).toBe('assumed');
  expect(table.known(HOST).size).toBe(1);
});

test('what filled the way from an origin bounds it for twenty minutes, or until more comes, and one connection no longer', () => {
  const table = new OriginTable();
  const minutes = (count: number) => NOW + count * 60_000;
  const fullAt = (nowMs: number) => {
    const fact = table.known(HOST).get('d1');
    return fact && fullBpsOf(fact, nowMs);
  };
  const { goodputBps: _, ...far } = seen;
  for (let report = 0; report < 5; report += 1) table.report('d1', { ...far, goodputBps: 9e7 }, NOW);
  for (let report = 0; report < 3; report += 1) table.report('d1', { ...far, fullBps: 9e6 }, NOW);
  expect(fullAt(minutes(19))).toBeCloseTo(9e6);
  // Less or about as much renews nothing.
  table.report('d1', { ...far, goodputBps: 1e7 }, minutes(15));
  expect(fullAt(minutes(19))).toBeCloseTo(9e6);
  expect(fullAt(minutes(21))).toBeUndefined();
  table.report('d1', { ...far, totalBps: 1.1e7 }, minutes(60));
  expect(fullAt(minutes(60))).toBeUndefined();
  expect(table.distribution('d1', HOST, minutes(60)).goodputBps.value).toBeGreaterThan(5e7);
  for (let report = 0; report < 3; report += 1) table.report('d1', { ...far, fullBps: 9e6 }, minutes(61));
  expect(fullAt(minutes(61))).toBeCloseTo(9e6);
  table.report('d1', { ...far, totalBps: 9e7 }, minutes(62));
  expect(fullAt(minutes(62))).toBeUndefined();
});

test('a crowd of downloads over a way leaves one of them room for what all had together', () => {
  const table = new OriginTable();
  const roomAfter = (goodputBps: number, connections: number, nowMs = NOW) => {
    table.report('d1', { ...seen, several: { goodputBps, connections } }, nowMs);
    const fact = table.known(HOST).get('d1');
    return fact && roomForSeveralBps(fact, nowMs);
  };
  expect(roomAfter(1e8, 40)).toBeCloseTo(2e8, -2);
  // Less is a change from the second time on, and more counts at once.
  expect(roomAfter(8e6, 8)).toBeGreaterThan(5e7);
  expect(roomAfter(8e6, 8)).toBeCloseTo(1.6e7, -2);
  expect(roomAfter(2e7, 4)).toBeCloseTo(8e7, -2);
  // Nor does what was long ago hold it back.
  expect(roomAfter(1e6, 8, NOW + HOUR_MS)).toBeCloseTo(2e6, -2);
});

test('a depot that has only met an origin expects no less loss than those that are as far, whatever one beside it shows', () => {
  const table = new OriginTable();
  for (let report = 0; report < 5; report += 1) {
    table.report('far', { ...seen, lostBytes: 1_000_000 }, NOW);
    table.report('near', { ...seen, rttMs: 4, lostBytes: 100 }, NOW);
  }
  table.report('probed', { host: HOST, rttMs: 98 }, NOW);
  table.report('beside', { host: HOST, rttMs: 5 }, NOW);
  const lossOf = (depot: string) => table.distribution(depot, HOST, NOW).lossRate.value;
  expect(lossOf('probed')).toBeGreaterThan(0.5 * lossOf('far'));
  expect(lossOf('beside')).toBeLessThan(0.01 * lossOf('far'));
});

test('what a depot measured of an origin counts no more once that is in another network, nearer or further', () => {
  const table = new OriginTable();
  for (let report = 0; report < 8; report += 1) table.report('d1', { ...seen, rttMs: 4 }, NOW);
  table.report('d1', { ...seen, rttMs: 121, prefix: '192.0.2.0/24' }, NOW);
  expect(table.distribution('d1', HOST, NOW).rttMs.value).toBeGreaterThan(80);
  // Servers of one place answer in turn.
  for (let report = 0; report < 8; report += 1) table.report('d2', { ...seen, rttMs: 50 }, NOW);
  table.report('d2', { ...seen, rttMs: 60, prefix: '192.0.2.0/24' }, NOW);
  expect(table.distribution('d2', HOST, NOW).rttMs.value).toBeLessThan(55);
});

test('what is known of an origin grows old, and then it is as its neighbours are', () => {
  const table = new OriginTable();
  table.report('d1', seen, NOW);
  for (let host = 0; host < 9; host += 1)
    table.report('d1', { ...seen, host: `h${host}.example`, rttMs: 20 }, NOW);
  table.report('d2', seen, NOW);
  expect(table.distribution('d1', HOST, NOW).rttMs.value).toBeGreaterThan(80);
  expect(table.distribution('d1', HOST, NOW + 6 * 24 * HOUR_MS).rttMs.value).toBeLessThan(35);
  // Another depot has its own neighbours.
  expect(table.distribution('d2', HOST, NOW).rttMs.value).toBeGreaterThan(80);
});

test('that an origin holds connections back is not forgotten for one who reads slowly', () => {
  const table = new OriginTable();
  const limitAfter = (limit: 'origin' | 'network' | 'receiver') => {
    table.report('d1', { ...seen, limit }, NOW);
    return table.known(HOST).get('d1')?.value.limit;
  };
  expect(limitAfter('receiver')).toBe('receiver');
  expect(limitAfter('origin')).toBe('origin');
  expect(limitAfter('receiver')).toBe('origin');
  expect(limitAfter('network')).toBe('network');
});

/** What connections show that have forgotten their start, with a loss of one in a thousand. */
const worn = (goodputBps: number, receivedBytes = 40_000_000) => ({
  worn: { goodputBps, receivedBytes, lostBytes: receivedBytes / 1000 },
});

test('how an origin sends is told from its rate under losses', () => {
  const table = new OriginTable();
  const long = { ...seen, receivedBytes: 400_000_000, lostBytes: 400_000 };
  table.report('d1', long, NOW);
  expect(table.manners(HOST, NOW).sender).toBe('cubic');
  // A CUBIC that has just begun is faster than losses leave to it, however much others of its kind have lost.
  table.report('d1', { ...long, host: 'young.example', rttMs: 80, goodputBps: 78e6 }, NOW);
  expect(table.manners('young.example', NOW).sender).toBeUndefined();
  const fast = { ...long, host: 'fast.example', goodputBps: 90e6, ...worn(90e6) };
  table.report('d1', fast, NOW);
  expect(table.manners('fast.example', NOW).sender).toBe('bbr');
  table.report('d1', { ...fast, host: 'soon.example', ...worn(90e6, 20_000_000) }, NOW);
  expect(table.manners('soon.example', NOW).sender).toBeUndefined();
  // Lanes share what one of them would have.
  table.report('d1', { ...fast, host: 'laned.example', ...worn(9e6) }, NOW);
  expect(table.manners('laned.example', NOW).sender).toBeUndefined();
  table.report('d1', { ...long, host: 'clean.example', lostBytes: 0 }, NOW);
  expect(table.manners('clean.example', NOW).sender).toBeUndefined();
});

test('what shows how an origin sends adds up, and is not taken back by reports that do not', () => {
  const table = new OriginTable();
  for (let time = 0; time < 4; time += 1)
    table.report('d1', { ...seen, ...worn(90e6, 10_000_000) }, NOW + time);
  expect(table.manners(HOST, NOW).sender).toBe('bbr');
  table.report('d1', { ...seen, receivedBytes: 4e8, lostBytes: 4e5 }, NOW + 10);
  expect(table.manners(HOST, NOW).sender).toBe('bbr');
});

test('what an origin was seen to send with long ago says nothing of what it sends with now', () => {
  const table = new OriginTable();
  table.report('d1', { ...seen, ...worn(90e6) }, NOW);
  expect(table.manners(HOST, NOW + 11 * HOUR_MS).sender).toBe('bbr');
  expect(table.manners(HOST, NOW + 13 * HOUR_MS).sender).toBeUndefined();
});

test('an origin that became slow all at once is taken for what it was before, once nobody has seen it for a while', () => {
  const table = new OriginTable();
  for (let time = 0; time < 4; time += 1) table.report('d1', { ...seen, goodputBps: 80e6 }, NOW);
  for (let time = 0; time < 2; time += 1) table.report('d1', { ...seen, goodputBps: 6e6 }, NOW);
  const knownBps = (atMs: number) => table.distribution('d1', HOST, atMs).goodputBps.value;
  expect(knownBps(NOW + 10 * 60_000)).toBeLessThan(15e6);
  expect(knownBps(NOW + HOUR_MS)).toBeGreaterThan(50e6);
  // As long as it is seen to be slow, it is.
  for (let minute = 10; minute < 60; minute += 10)
    table.report('d1', { ...seen, goodputBps: 6e6 }, NOW + minute * 60_000);
  expect(knownBps(NOW + HOUR_MS)).toBeLessThan(15e6);
});

test('a near depot to which losses would leave as much as the origin gives says nothing of how it sends', () => {
  const table = new OriginTable();
  const lossy = { ...seen, receivedBytes: 4e8, lostBytes: 4e5 };
  table.report('d1', { ...lossy, rttMs: 145, goodputBps: 90e6, ...worn(90e6) }, NOW);
  for (const near of ['d2', 'd3'])
    table.report(near, { ...lossy, rttMs: 5, lostBytes: 2e5, goodputBps: 95e6 }, NOW);
  expect(table.manners(HOST, NOW).sender).toBe('bbr');
});

test('what an origin takes is what most depots say: one alone does not outvote others', () => {
  const table = new OriginTable();
  table.report('d1', { host: HOST, takesRanges: true, takesAhead: true }, NOW);
  table.report('d2', { host: HOST, takesRanges: true }, NOW);
  for (let time = 0; time < 9; time += 1) table.report('d3', { host: HOST, takesRanges: false }, NOW + time);
  expect(table.manners(HOST, NOW)).toEqual({ takesRanges: true, takesAhead: true });
  expect(table.known(HOST).size).toBe(0);
});

test('where an origin is reached is what most depots say, and each believes itself', () => {
  const table = new OriginTable();
  const near = '203.0.113.0/24';
  const far = '198.51.100.0/24';
  const neighbours = (depot: string) => {
    for (let host = 0; host < 9; host += 1) {
      table.report(depot, { ...seen, host: `near${host}.example`, prefix: near, rttMs: 20 }, NOW);
      table.report(depot, { ...seen, host: `far${host}.example`, prefix: far, rttMs: 300 }, NOW);
    }
  };
  for (const depot of ['d1', 'd2', 'd3', 'd4']) neighbours(depot);
  table.report('liar', { ...seen, prefix: far }, NOW);
  table.report('d1', { ...seen, prefix: near }, NOW);
  expect(table.prefixOf(HOST)).toBeUndefined();
  table.report('d2', { ...seen, prefix: near }, NOW);
  expect(table.prefixOf(HOST)).toBe(near);
  expect(table.distribution('d3', HOST, NOW).rttMs.value).toBeLessThan(30);
  const days = 6 * 24 * HOUR_MS;
  expect(table.distribution('d1', HOST, NOW + days).rttMs.value).toBeLessThan(35);
});

test('what a depot says of an origin that is not believed is not heard', () => {
  const table = new OriginTable();
  table.report('liar', { host: HOST, takesRanges: false }, NOW);
  table.report('liar', { ...seen, ...worn(90e6) }, NOW);
  expect(table.manners(HOST, NOW)).toEqual({ takesRanges: false, sender: 'bbr' });
  expect(table.manners(HOST, NOW, (depot) => depot !== 'liar')).toEqual({});
});

test('nothing is left of what a depot has told that is not believed any more', () => {
  const table = new OriginTable();
  for (const depot of ['d1', 'liar']) table.report(depot, { ...seen, takesRanges: depot === 'd1' }, NOW);
  table.forgetFrom('liar');
  expect([...table.known(HOST).keys()]).toEqual(['d1']);
  expect(table.manners(HOST, NOW).takesRanges).toBe(true);
});

test('of very many depots that have met an origin some are asked what it is like, from the nearest to the furthest', () => {
  const table = new OriginTable();
  const depots = Array.from({ length: 1000 }, (_, number) => `d${number}`);
  for (const [number, depot] of depots.entries())
    table.report(depot, { host: HOST, rttMs: 1000 - number }, NOW);
  expect(table.nearestFirst(HOST).slice(0, 3)).toEqual(['d999', 'd998', 'd997']);
  const asked = [...table.witnesses(HOST)].map(([depot]) => depot);
  expect(new Set(asked).size).toBe(32);
  expect(asked[0]).toBe('d999');
  expect(Number(asked.at(-1)?.slice(1))).toBeLessThan(50);
  table.report('d0', { host: HOST, rttMs: 0.01 }, NOW);
  for (let again = 0; again < 20; again += 1) table.report('d0', { host: HOST, rttMs: 0.01 }, NOW);
  expect(table.nearestFirst(HOST)[0]).toBe('d0');
});
