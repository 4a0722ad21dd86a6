import { expect, test } from 'vitest';
import type { LegMeasure } from './leg-meter.ts';
import type { LegSample } from './leg-sampler.ts';
import { LegSummaries } from './leg-summaries.ts';
import { RunningLegs } from './running-legs.ts';

const MEASURE: LegMeasure = {
  sentBytes: 1000,
  retransmittedBytes: 10,
  receivedBytes: 5,
  limitedMs: { receiver: 1, 'send-buffer': 2, 'congestion-window': 3, idle: 4 },
  seconds: 1,
  rttMs: 40,
  minRttMs: 30,
  lossRate: 0.01,
  deliveryRateBps: 5e6,
  limitedBy: 'idle',
  unansweredMs: 0,
  sentBps: 8_000,
  receivedBps: 40,
  unsentBytes: 0,
};

function leg(sample: LegSample) {
  let stops = 0;
  const { legClass, depot } = sample;
  const neighbour = depot === undefined ? { legClass } : { legClass, depot };
  return {
    neighbour,
    stops: () => stops,
    look: () => {},
    measure: () => sample.measure,
    stop: () => ((stops += 1), sample),
  };
}

test('connections to one neighbour are told of as one, however many there were', () => {
  const legs = new LegSummaries();
  const toDepot = { legClass: 'depot', depot: 'd2' } as const;
  for (let count = 0; count < 100; count += 1)
    legs.watch(leg({ ...toDepot, measure: { ...MEASURE, minRttMs: 30 + count, rttMs: 40 + count } })).stop();
  legs.watch(leg({ legClass: 'client', measure: MEASURE })).stop();
  expect(legs.end()).toEqual([
    expect.objectContaining({ legClass: 'client', connections: 1 }),
    {
      ...toDepot,
      connections: 100,
      sentBytes: 100_000,
      retransmittedBytes: 1000,
      receivedBytes: 500,
      limitedMs: { receiver: 100, 'send-buffer': 200, 'congestion-window': 300, idle: 400 },
      minRttMs: 30,
      rttMs: 139,
      deliveryRateBps: 5e6,
    },
  ]);
});

test('a leg that still runs at the end is looked at then, and none is counted twice', () => {
  const legs = new LegSummaries();
  const running = leg({ legClass: 'origin', measure: MEASURE });
  const watched = legs.watch(running);
  expect(legs.end()).toHaveLength(1);
  watched.stop();
  expect(running.stops()).toBe(1);
  expect(legs.end()).toMatchObject([{ connections: 1, sentBytes: 1000 }]);
});

test('a leg that the kernel tells nothing of is left out', () => {
  const legs = new LegSummaries();
  legs.watch(leg({ legClass: 'client', measure: undefined })).stop();
  expect(legs.end()).toEqual([]);
});

test('what a job’s connections do now is told by neighbour over all its transfers, and of none that has ended', () => {
  const running = new RunningLegs();
  const [one, other] = [new LegSummaries(), new LegSummaries()];
  const leaves = [
    running.add('job', one),
    running.add('job', other),
    running.add('another', new LegSummaries()),
  ];
  const toDepot = { legClass: 'depot', depot: 'd2' } as const;
  const ended = one.watch(leg({ ...toDepot, measure: MEASURE }));
  one.watch(leg({ ...toDepot, measure: { ...MEASURE, rttMs: 90 } }));
  other.watch(leg({ ...toDepot, measure: { ...MEASURE, rttMs: 70 } }));
  other.watch(leg({ legClass: 'client', measure: MEASURE }));
  other.watch(leg({ legClass: 'client', measure: undefined }));
  ended.stop();
  expect(running.of('job')).toEqual([
    { peer: 'd2', connections: 2, rttMs: 70, sentBps: 16_000, receivedBps: 80 },
    { peer: 'client', connections: 1, rttMs: 40, sentBps: 8_000, receivedBps: 40 },
  ]);
  leaves[1]?.();
  expect(running.of('job')).toMatchObject([{ peer: 'd2', connections: 1 }]);
  for (const leave of leaves) leave();
  expect(running.of('job')).toEqual([]);
});
