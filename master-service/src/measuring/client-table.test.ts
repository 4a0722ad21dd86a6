import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_QUEUE } from './client-queue.ts';
import { ClientTable } from './client-table.ts';
import { masterOf } from './measured-by.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const PREFIX = '198.51.100.0/24';
const seen = { prefix: PREFIX, rttMs: 30, goodputBps: 4e7, sentBytes: 1e8, retransmittedBytes: 1e5 };

test('a client network is known by what transfers to it showed, for each depot by itself', () => {
  const table = new ClientTable();
  for (let report = 0; report < 5; report += 1) table.report('d1', seen, NOW);
  const { rttMs, goodputBps, lossRate } = table.distribution('d1', PREFIX, NOW);
  expect([rttMs.source, goodputBps.source, lossRate.source]).toEqual(['measured', 'measured', 'measured']);
  expect(Math.abs(rttMs.value / 30 - 1)).toBeLessThan(0.05);
  expect(Math.abs(goodputBps.value / 4e7 - 1)).toBeLessThan(0.05);
  expect(Math.abs(lossRate.value / 1e-3 - 1)).toBeLessThan(0.05);
  expect(table.distribution('d2', PREFIX, NOW).rttMs).toMatchObject({ source: 'assumed', samples: 0 });
});

test('a depot that has not met a client network expects no less loss and no more rate than those that have', () => {
  const table = new ClientTable(undefined, (depot) => (depot === 'd1' ? 3e8 : 0));
  const others = () => {
    const { lossRate, goodputBps } = table.distribution('d9', PREFIX, NOW);
    return { loss: lossRate.value, bps: goodputBps.value, source: goodputBps.source };
  };
  const before = others();
  const slow = { ...seen, goodputBps: 5e6, sentBytes: 1e8, retransmittedBytes: 1e6 };
  for (let report = 0; report < 5; report += 1) table.report('d1', slow, NOW);
  expect(others().loss / before.loss).toBeGreaterThan(100);
  expect(others().bps / before.bps).toBeLessThan(0.4);
  expect(others().source).toBe('derived');
  // The best of what others met is what the client's line allows.
  for (let report = 0; report < 5; report += 1)
    table.report('d2', { ...slow, goodputBps: 2e7, retransmittedBytes: 1e4 }, NOW);
  expect(others().loss).toBeLessThan(1e-3);
  expect(others().bps).toBeGreaterThan(1e7);
});

test('a depot that sends no faster to anybody sends no faster to a network that it has not met', () => {
  const table = new ClientTable();
  const lineOf = (depot: string) => table.distribution(depot, PREFIX, NOW).goodputBps.value;
  const report = (depot: string, place: number, goodputBps: number) => {
    const prefix = `192.0.${place}.0/24`;
    for (let time = 0; time < 5; time += 1) table.report(depot, { ...seen, prefix, goodputBps }, NOW);
  };
  for (let place = 1; place < 10; place += 1) report('d1', place, 2e7);
  expect(lineOf('d1')).toBeGreaterThan(3.4e7);
  report('d1', 10, 2e7);
  expect(lineOf('d1')).toBeLessThan(3.4e7);
  // Over another way the client may have more.
  expect(table.untoldLineBps('d1', PREFIX, NOW)).toBeGreaterThan(3.4e7);
  expect(lineOf('d2')).toBeGreaterThan(3.4e7);
  report('d1', 11, 9e7);
  expect(lineOf('d1')).toBeGreaterThan(3.4e7);
});

test('what depots send to nobody faster may be their own lines, however many they are', () => {
  for (const narrow of [['d1'], ['d1', 'd2'], ['d1', 'd2', 'd3', 'd4']]) {
    const table = new ClientTable();
    const others = () => table.distribution('d9', PREFIX, NOW).goodputBps.value;
    const lines = () => narrow.map((depot) => table.untoldLineBps(depot, PREFIX, NOW) ?? 0);
    const report = (depot: string, prefix: string, goodputBps: number) => {
      for (let time = 0; time < 5; time += 1) table.report(depot, { ...seen, prefix, goodputBps }, NOW);
    };
    for (const depot of narrow) report(depot, PREFIX, 5e6);
    expect(others()).toBeGreaterThan(3e7);
    expect(Math.min(...lines())).toBeGreaterThan(3e7);
    // One that sends more to somebody else tells what this line carries.
    report('d1', '192.0.2.0/24', 4e7);
    expect(others()).toBeLessThan(2e7);
    expect(table.untoldLineBps('d1', PREFIX, NOW)).toBeUndefined();
    expect(Math.max(...lines())).toBeLessThan(2e7);
  }
});

test('a line carries what the fastest depot has sent to it, whose own line may end there', () => {
  const table = new ClientTable(undefined, (depot) => (depot === 'slow' ? 3e8 : 0));
  for (let report = 0; report < 5; report += 1) {
    table.report('slow', { ...seen, goodputBps: 8e6 }, NOW);
    table.report('narrow', { ...seen, goodputBps: 3e7 }, NOW);
  }
  // What the slow one met was its way: a third one may get through as much as any.
  expect(table.distribution('d9', PREFIX, NOW).goodputBps.value).toBeGreaterThan(2.5e7);
  expect(table.untoldLineBps('narrow', PREFIX, NOW)).toBeGreaterThanOrEqual(3e7);
  expect(table.untoldLineBps('slow', PREFIX, NOW)).toBeUndefined();
});

test('what waits in queues that others fill is known after some looks, and forgotten as soon as nothing waits', () => {
  const table = new ClientTable();
  const queueMs = (atMs = NOW) => table.queue(PREFIX, atMs).queueMs;
  const tell = (depot: string, waitsMs: number, atMs = NOW) =>
    table.report(depot, { ...seen, queueMs: waitsMs }, atMs);
  table.report('d1', seen, NOW);
  expect(queueMs()).toBe(0);
  tell('d1', 40);
  expect(queueMs()).toBeCloseTo(20, 0);
  for (let report = 0; report < 7; report += 1) tell('d1', 40);
  expect(queueMs()).toBeGreaterThan(34);
  expect(queueMs(NOW + 2 * HOUR_MS)).toBe(0);
  // What one depot alone waits for is before its own line.
  tell('d2', 0);
  expect(queueMs()).toBe(0);
  tell('d1', 40, NOW + 2 * HOUR_MS);
  expect(queueMs(NOW + 2 * HOUR_MS)).toBeGreaterThan(20);
  tell('d1', 0, NOW + 2 * HOUR_MS);
  expect(queueMs(NOW + 2 * HOUR_MS)).toBe(0);
});

test('a line that handshakes wait before is filled by others, until a depot sends over it and nothing is lost', () => {
  const table = new ClientTable();
  const tell = (queueMs: number, atMs: number) => table.report(masterOf('d1'), { ...seen, queueMs }, atMs);
  const send = (retransmittedBytes: number, atMs: number) =>
    table.report('d1', { ...seen, sentBytes: 2e7, retransmittedBytes, queueMs: 0 }, atMs);
  for (let second = 0; second < 5; second += 1) tell(20, NOW + second * 1000);
  expect(table.queue(PREFIX, NOW + 5000)).toMatchObject({ isFilled: true });
  // What a depot takes for a queue of its own making is none of these.
  send(200_000, NOW + 5000);
  expect(table.queue(PREFIX, NOW + 6000)).toMatchObject({ isFilled: true });
  expect(table.queue(PREFIX, NOW + 6000).queueMs).toBeGreaterThan(14);
  tell(0, NOW + 7000);
  expect(table.queue(PREFIX, NOW + 8000)).toEqual(NO_QUEUE);

  // What the others of a client fill it with ends as well.
  for (let second = 9; second < 60; second += 1) tell(20, NOW + second * 1000);
  expect(table.queue(PREFIX, NOW + MINUTE_MS).isFilled).toBe(true);
  expect(table.queue(PREFIX, NOW + 12 * MINUTE_MS)).toMatchObject({ isFilled: false, handshakeMs: 0 });
});

/** Bytes sent, and sent again, at a minute. */
test.each([
  ['has lost nothing of late', [[2e7, 0, -1]], false],
  ['has lost a packet', [[1.2e7, 1448, -1]], false],
  [
    'has lost nothing of late, and much in the morning',
    [
      [4e8, 4e5, -480],
      [2e7, 0, -1],
    ],
    false,
  ],
  [
    'loses now, and nothing in the morning',
    [
      [3e8, 0, -180],
      [2e6, 2e4, -1],
    ],
    true,
  ],
  ['has sent little', [[5e6, 0, -1]], true],
  ['has lost nothing for long', [[4e7, 0, -40]], true],
] as const)(
  'what handshakes say of a line that is full is held against a depot that %s',
  (_, sent, isFilled) => {
    const table = new ClientTable();
    for (const [sentBytes, retransmittedBytes, minute] of sent)
      table.report('d1', { ...seen, sentBytes, retransmittedBytes }, NOW + minute * MINUTE_MS);
    for (let second = 0; second < 5; second += 1)
      table.report(masterOf('d1'), { ...seen, queueMs: 20 }, NOW + second * 1000);
    expect(table.queue(PREFIX, NOW + 5000).isFilled).toBe(isFilled);
  },
);

test('what is known of a client network grows old', () => {
  const table = new ClientTable();
  table.report('d1', seen, NOW);
  const spreads = [0, 1, 5, 24].map(
    (hours) => table.distribution('d1', PREFIX, NOW + hours * HOUR_MS).goodputBps.spread,
  );
  expect(spreads).toEqual(spreads.toSorted((one, other) => one - other));
});

/**
 * What is known of a network's line of 250 Mbit/s after so many hours in which all that was seen of it is a
 * line of 6 Mbit/s.
 */
function afterSlow(hours: number, everySeconds: number): number {
  const table = new ClientTable();
  for (let report = 0; report < 12; report += 1) table.report('d1', { ...seen, goodputBps: 250e6 }, NOW);
  const endMs = NOW + hours * HOUR_MS;
  for (let nowMs = NOW; nowMs <= endMs; nowMs += 1000 * everySeconds)
    table.report('d1', { ...seen, goodputBps: 6e6 }, nowMs);
  return table.distribution('d1', PREFIX, endMs).goodputBps.value;
}

test('one slow line does not make those of its neighbours look slow, however long its download takes', () => {
  expect(afterSlow(1 / 3, 5)).toBeGreaterThan(180e6);
  expect(afterSlow(2, 5)).toBeGreaterThan(75e6);
});

/**
 * What is known to get lost in a network of clean lines after so many hours in which one part of `lossRate`
 * is lost at `goodputBps`, every five seconds.
 */
function lossAfter(hours: number, goodputBps: number, lossRate: number): number {
  const table = new ClientTable();
  const clean = { ...seen, goodputBps: 1.5e8, retransmittedBytes: 0 };
  for (let report = 0; report < 6; report += 1) table.report('d1', clean, NOW);
  const sentBytes = 5 * (goodputBps / 8);
  const endMs = NOW + hours * HOUR_MS;
  for (let nowMs = NOW + 5000; nowMs <= endMs; nowMs += 5000)
    table.report('d1', { ...seen, goodputBps, sentBytes, retransmittedBytes: lossRate * sentBytes }, nowMs);
  return table.distribution('d1', PREFIX, endMs).lossRate.value;
}

test('what one slow line loses its neighbours do not', () => {
  expect(lossAfter(1 / 60, 3e7, 0.03)).toBeLessThan(1e-4);
  expect(lossAfter(1 / 6, 3e7, 0.03)).toBeLessThan(1e-3);
});

test('a network that has begun to lose is known to at once where its lines are as fast as before, and after some hours where they are slow as well', () => {
  expect(lossAfter(1 / 60, 1.4e8, 0.03)).toBeGreaterThan(0.02);
  expect(lossAfter(2, 3e7, 0.03)).toBeGreaterThan(0.003);
  expect(lossAfter(12, 3e7, 0.03)).toBeGreaterThan(0.015);
});

test('the first line of a network counts as much as a usual one where it is slow, and the next faster one more', () => {
  const table = new ClientTable();
  const known = () => table.distribution('d1', PREFIX, NOW).goodputBps.value;
  for (let report = 0; report < 12; report += 1) table.report('d1', { ...seen, goodputBps: 4e6 }, NOW);
  expect(known()).toBeGreaterThan(12e6);
  for (let report = 0; report < 3; report += 1) table.report('d1', { ...seen, goodputBps: 100e6 }, NOW);
  expect(known()).toBeGreaterThan(40e6);
});

test('a network whose first line is fast is known to be fast at once', () => {
  const table = new ClientTable();
  table.report('d1', { ...seen, goodputBps: 250e6 }, NOW);
  expect(table.distribution('d1', PREFIX, NOW).goodputBps.value).toBeGreaterThan(200e6);
});

test('a line whose rate goes up and down is known by its middle', () => {
  const table = new ClientTable();
  for (let report = 0; report < 200; report += 1)
    table.report('d1', { ...seen, goodputBps: report % 2 === 0 ? 50e6 : 32e6 }, NOW + 5000 * report);
  const { value } = table.distribution('d1', PREFIX, NOW + 1_000_000).goodputBps;
  expect(Math.abs(Math.log(value / 40e6))).toBeLessThan(0.1);
});

test('a network whose lines have all become slow is known to be slow after some hours, however often its clients download', () => {
  for (const everySeconds of [5, 600]) {
    expect(afterSlow(6, everySeconds)).toBeLessThan(30e6);
    expect(afterSlow(12, everySeconds)).toBeLessThan(8e6);
  }
  expect(afterSlow(12, 3600)).toBeLessThan(30e6);
});

test('what clients of other networks showed to depots tells what to expect of a new one', () => {
  const table = new ClientTable();
  // One depot alone decides nothing.
  for (let index = 0; index < 200; index += 1) {
    table.report(`d${index % 50}`, { ...seen, prefix: `198.51.${index}.0/24`, goodputBps: 2e6 }, NOW);
  }
  expect(table.distribution('d1', '203.0.113.0/24', NOW).goodputBps.value).toBeLessThan(5e6);
});

/** What one network, or one depot, may move. */
const FIFTH = Math.log(1.2) + 1e-6;
const anything = fc.record({
  rttMs: fc.oneof(fc.constantFrom(0, 10, 30, 50, 100), fc.double({ min: 0, max: 60_000, noNaN: true })),
  goodputBps: fc.double({ min: 1, max: 1e12, noNaN: true }),
  sentBytes: fc.integer({ min: 0, max: 1e15 }),
  retransmittedBytes: fc.integer({ min: 0, max: 1e15 }),
});

/** Some depots that have seen some networks of several parts of the internet. */
function served(): ClientTable {
  const table = new ClientTable();
  for (const [depot, rttMs] of [
    ['d1', 30],
    ['d2', 50],
    ['d3', 80],
    ['d4', 120],
  ] as const)
    for (let network = 0; network < 12; network += 1)
      table.report(depot, { ...seen, prefix: `192.${network % 3}.${network}.0/24`, rttMs }, NOW);
  return table;
}

/** By how much at most what is expected of a network that nobody has spoken of differs, as a logarithm. */
function mostMoved(having: ClientTable, without: ClientTable): number {
  const moved = ['d1', 'd4', 'd5'].flatMap((depot) => {
    const [one, other] = [having, without].map((table) => table.distribution(depot, '192.0.200.0/24', NOW));
    return (['rttMs', 'goodputBps', 'lossRate'] as const).map((figure) =>
      Math.abs(Math.log((one?.[figure].value ?? 0) / (other?.[figure].value ?? 0))),
    );
  });
  return Math.max(...moved);
}

test('a depot that lies, of as many networks as it likes, moves what is expected of others by a fifth at most', () => {
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1, maxLength: 200 }), (lies) => {
      const [without, having] = [served(), served()];
      for (const [number, lie] of lies.entries())
        having.report('d9', { ...lie, prefix: `192.${number % 3}.${number}.0/24` }, NOW);
      expect(mostMoved(having, without)).toBeLessThanOrEqual(FIFTH);
    }),
    { numRuns: 50 },
  );
});

test('one client network that lies to every depot moves what is expected of its neighbours by a fifth at most', () => {
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1, maxLength: 20 }), (lies) => {
      const [without, having] = [served(), served()];
      for (const lie of lies)
        for (const depot of ['d1', 'd2', 'd3', 'd4'])
          having.report(depot, { ...lie, prefix: '192.0.99.0/24' }, NOW);
      expect(mostMoved(having, without)).toBeLessThanOrEqual(FIFTH);
    }),
    { numRuns: 50 },
  );
});

test('nothing is left of what a depot has measured that is not believed any more', () => {
  const table = new ClientTable();
  for (const depot of ['d1', 'liar']) table.report(depot, seen, NOW);
  table.forgetFrom('liar');
  expect([...table.known(PREFIX).keys()]).toEqual(['d1']);
});

test('a depot that tells of ever more networks makes a master forget nothing that others told', () => {
  const table = new ClientTable();
  table.report('d1', seen, NOW);
  for (let number = 0; number < 101_000; number += 1) {
    const prefix = `${number >> 16}.${(number >> 8) & 255}.${number & 255}.0/24`;
    table.report('liar', { prefix, rttMs: 1 }, NOW + number);
  }
  expect(table.known(PREFIX).has('d1')).toBe(true);
  expect(table.size).toBeLessThanOrEqual(50_001);
}, 30_000);

describe('networks that all get far less from a depot at once', () => {
  const networks = Array.from({ length: 20 }, (_, index) => `198.18.${index}.0/24`);
  /** A table whose depot has served twenty networks well. */
  const known = () => {
    const table = new ClientTable();
    for (let times = 0; times < 5; times += 1) serve(table, networks, NOW, { goodputBps: 9e7 });
    return table;
  };
  const serve = (table: ClientTable, to: readonly string[], nowMs: number, more: object = {}) => {
    const sent = { rttMs: 5, goodputBps: 3e6, sentBytes: 1e7, retransmittedBytes: 0, ...more };
    for (const prefix of to) table.report('d1', { prefix, ...sent }, nowMs);
  };
  const later = NOW + 2 * MINUTE_MS;
  const lost = { retransmittedBytes: 2e5, queueMs: 200 };

  test('tell what its line leaves to each, for as long as they do', () => {
    const table = known();
    expect(table.crowdedBps('d1', NOW)).toBeUndefined();
    serve(table, networks, later);
    expect(table.crowdedBps('d1', later)).toBeCloseTo(3e6);
    expect(table.crowdedBps('d2', later)).toBeUndefined();
    expect(table.crowdedBps('d1', later + MINUTE_MS)).toBeUndefined();
  });

  test('tell nothing of their own lines, which direct downloads cross as well', () => {
    const table = known();
    const prefix = networks[19] ?? '';
    const before = table.distribution('d1', prefix, later);
    for (let minute = 0; minute < 60; minute += 1)
      for (let times = 0; times < 12; times += 1)
        serve(table, networks, later + minute * MINUTE_MS + times * 5000, lost);
    const after = table.distribution('d1', prefix, later + 60 * MINUTE_MS);
    expect(after.lossRate.value / before.lossRate.value).toBeLessThan(2);
    expect(after.goodputBps.value).toBeGreaterThan(8e7);
    table.report(masterOf('d1'), { ...seen, prefix, queueMs: 30 }, later + 60 * MINUTE_MS);
    expect(table.queue(prefix, later + 60 * MINUTE_MS).queueMs).toBe(0);
    // One that comes for the first time is not taken for slow.
    serve(table, ['198.19.0.0/24'], later + 60 * MINUTE_MS, lost);
    expect(
      table.distribution('d1', '198.19.0.0/24', later + 60 * MINUTE_MS).goodputBps.value,
    ).toBeGreaterThan(2e7);
  });

  test.each([
    ['one alone, however often', [networks[0], networks[0], networks[0]]],
    ['seven', networks.slice(0, 7)],
    ['nobody knew before', networks.map((prefix) => prefix.replace('198.18.', '198.19.'))],
  ])('say nothing of its line where they are %s', (_, slow) => {
    const table = known();
    const to = slow.flatMap((prefix) => prefix ?? []);
    for (let times = 0; times < 12; times += 1) serve(table, to, later + times * 1000, lost);
    expect(table.crowdedBps('d1', later + 11_000)).toBeUndefined();
  });

  /** One more network comes every three minutes; all share what one has, and tell so every five seconds. */
  const growing = (table: ClientTable, most: number, totalBps = 9e7) => {
    let nowMs = NOW;
    for (let count = 1; count <= most; count += 1)
      for (let look = 0; look < 36; look += 1) {
        nowMs += 5000;
        const goodputBps = (totalBps / count) * (0.95 + (look % 10) / 100);
        serve(table, networks.slice(0, count), nowMs, { goodputBps });
      }
    return nowMs;
  };

  test('tell nothing of their own lines either where they have come one after the other', () => {
    const table = known();
    const atMs = growing(table, 16);
    expect(table.crowdedBps('d1', atMs)).toBeCloseTo(9e7 / 16, -6);
    const linesAt = (nowMs: number) =>
      networks.map((prefix) => table.distribution('d1', prefix, nowMs).goodputBps.value);
    expect(Math.min(...linesAt(atMs))).toBeGreaterThan(7e7);
    expect(Math.min(...linesAt(atMs + HOUR_MS))).toBeGreaterThan(6e7);
  });

  test('make nobody faster that is as fast as ever, whose rate goes up and down', () => {
    const table = known();
    for (let look = 0; look < 720; look += 1) {
      const atMs = later + look * 5000;
      serve(table, networks.slice(1), atMs);
      serve(table, networks.slice(0, 1), atMs, { goodputBps: look % 2 === 0 ? 8e7 : 1e8 });
    }
    const line = table.distribution('d1', networks[0] ?? '', later + HOUR_MS).goodputBps.value;
    expect(line).toBeGreaterThan(8e7);
    expect(line).toBeLessThan(1.01e8);
  });

  test.each([
    ['one', 1],
    ['seven', 7],
  ])('are believed to be slower where %s of them becomes so little by little', (_, count) => {
    const table = known();
    const [slow, others] = [networks.slice(0, count), networks.slice(count)];
    const lineOf = (prefix = '', nowMs = NOW) => table.distribution('d1', prefix, nowMs).goodputBps.value;
    let nowMs = NOW;
    for (const goodputBps of [6e7, 4e7, 2.5e7, 1.5e7])
      for (let look = 0; look < 36; look += 1) {
        nowMs += 5000;
        serve(table, others, nowMs, { goodputBps: 9e7 });
        serve(table, slow, nowMs, { goodputBps });
      }
    expect(table.crowdedBps('d1', nowMs)).toBeUndefined();
    for (const prefix of slow) expect(lineOf(prefix, nowMs) / 1.5e7).toBeCloseTo(1, 1);
    for (const prefix of others) expect(lineOf(prefix, nowMs)).toBeGreaterThan(8e7);
  });

  test('say nothing of its line where as many get what they did', () => {
    const table = known();
    serve(table, networks.slice(10), later, { goodputBps: 9e7 });
    serve(table, networks.slice(0, 10), later);
    expect(table.crowdedBps('d1', later)).toBeUndefined();
  });
});
