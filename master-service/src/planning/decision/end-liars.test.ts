import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientTable } from '../../measuring/client-table.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { testConfig } from '../../testing/start-master.ts';
import { EndLinks } from '../links/end-links.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';

const NOW = 1_795_000_000_000;
const PREFIX = '198.51.100.0/24';
const ENDS = { client: '198.51.100.7', origin: 'origin.example' };
/** These have measured both ends, and one of them may lie; the others are only linked with them. */
const TELLING = ['d1', 'd2', 'd3', 'd4'] as const;
const SILENT = ['d5', 'd6'] as const;
const LIAR = 'd4';

type Place = readonly [number, number];
type Places = Readonly<
  Record<(typeof TELLING)[number] | (typeof SILENT)[number] | 'client' | 'origin', Place>
>;
/** What the liar tells of the two ends. */
interface Lie {
  readonly toClientMs: number;
  readonly toOriginMs: number;
  readonly goodputBps: number;
  readonly lossRate: number;
  /** What it says that holds the origin's connections back. */
  readonly limit?: 'origin';
}

const rtt = ([x, y]: Place, [otherX, otherY]: Place) => 2 + Math.hypot(x - otherX, y - otherY);
/** Whether three round trips may be those of a triangle. */
const isTriangle = (rttMs: number, one = Number.NaN, other = Number.NaN) =>
  rttMs >= (1 - 1e-9) * Math.abs(one - other) && rttMs <= (1 + 1e-9) * (one + other);
const place = fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 }));
const places = fc.record({
  d1: place,
  d2: place,
  d3: place,
  d4: place,
  d5: place,
  d6: place,
  client: place,
  origin: place,
});
const lie = fc.record({
  toClientMs: fc.double({ min: 0, max: 2000, noNaN: true }),
  toOriginMs: fc.double({ min: 0, max: 2000, noNaN: true }),
  goodputBps: fc.double({ min: 1, max: 1e12, noNaN: true }),
  lossRate: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** A master that depots have told of a client and an origin; all links between depots are as they are. */
function told(at: Places, lies: Lie | undefined) {
  const { planner: config } = testConfig({ links: [] });
  const { windowBytes } = config.assumptions;
  const links = new LinkTable([], windowBytes);
  const [clients, origins] = [new ClientTable(), new OriginTable()];
  for (const one of [...TELLING, ...SILENT])
    for (const other of [...TELLING, ...SILENT])
      if (one !== other)
        links.report(one, { to: other, rttMs: rtt(at[one], at[other]), goodputBps: 5e8, lossRate: 0 }, NOW);
  for (const depot of TELLING) {
    if (depot === LIAR && !lies) continue;
    const says = depot === LIAR ? lies : undefined;
    const bytes = 4e7;
    const lost = Math.round(bytes * (says?.lossRate ?? 1e-4));
    const goodputBps = says?.goodputBps ?? 5e7;
    const toClientMs = says?.toClientMs ?? rtt(at[depot], at.client);
    clients.report(
      depot,
      { prefix: PREFIX, rttMs: toClientMs, goodputBps, sentBytes: bytes, retransmittedBytes: lost },
      NOW,
    );
    const toOriginMs = says?.toOriginMs ?? rtt(at[depot], at.origin);
    origins.report(
      depot,
      {
        host: ENDS.origin,
        rttMs: toOriginMs,
        goodputBps,
        receivedBytes: bytes,
        lostBytes: lost,
        limit: says?.limit ?? 'network',
      },
      NOW,
    );
  }
  const ends = new EndLinks({ links, clients, origins, windowBytes });
  const planner = new Planner(config, links, ends);
  const depots = [...TELLING, ...SILENT].map((id) => ({ id, tls: false, state: 'up' as const }));
  const planned = planner.plan({ sizeBytes: 1e8, originTls: false, ends: ENDS }, depots, NOW);
  if (!planned.ok) throw planned.error;
  const around = (from: string) =>
    [...TELLING, ...SILENT]
      .filter((id) => id !== from)
      .map((id) => [id, rtt(at[from as keyof Places], at[id])] as const);
  const view = ends.between(ENDS, { around, isUsable: () => true }, NOW);
  return { direct: planned.value.direct, view };
}

test('a depot that lies of both ends leaves the direct way as long as honest ones allow it to be', () => {
  fc.assert(
    fc.property(places, lie, (at, lies) => {
      const { direct, view } = told(at, lies);
      // What honest ones have measured leans to what is usual: their legs count as they are known.
      const msOf = (one: string, other: string) => view.estimate(one, other, NOW)?.rttMs;
      const isAllowed = TELLING.filter((id) => id !== LIAR).some((id) =>
        isTriangle(direct.legs[0]?.rttMs ?? 0, msOf('client', id), msOf(id, 'origin')),
      );
      expect(isAllowed).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test('a depot that lies of both ends makes no other depot seem nearer to them, or further, than honest ones allow', () => {
  fc.assert(
    fc.property(places, lie, (at, lies) => {
      const { view } = told(at, lies);
      for (const silent of SILENT) {
        const rttMs = view.estimate('client', silent, NOW)?.rttMs ?? 0;
        const isAllowed = TELLING.filter((id) => id !== LIAR).some((id) =>
          isTriangle(rttMs, view.estimate('client', id, NOW)?.rttMs, rtt(at[id], at[silent])),
        );
        expect(isAllowed).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});

test('a depot that says that the way from a client to an origin is slow, or fast, does not decide it where others lie beside one of them', () => {
  // Three honest ones beside the client, one of which has not been heard of yet.
  const at: Places = {
    d1: [1, 0],
    d2: [0, 2],
    d3: [3, 0],
    d4: [0, 1],
    d5: [100, 100],
    d6: [50, 50],
    client: [0, 0],
    origin: [150, 0],
  };
  const { seconds } = told(at, undefined).direct;
  const near = { toClientMs: 0.5, toOriginMs: 150 };
  for (const lies of [
    { ...near, goodputBps: 1000, lossRate: 1 },
    { ...near, goodputBps: 1000, lossRate: 1, limit: 'origin' as const },
    { ...near, goodputBps: 1e12, lossRate: 0 },
  ]) {
    const factor = told(at, lies).direct.seconds / seconds;
    expect(Math.max(factor, 1 / factor)).toBeLessThan(1.2);
  }
});
