import { expect, test } from 'vitest';
import { AddressRefused, OriginBusy } from '../origin/joined-part.ts';
import { Lane } from './lane.ts';
import { LaneRests } from './lane-rests.ts';
import { lanesSchema } from './lanes-config.ts';

const CONFIG = lanesSchema.parse({});
const REPRESENTATION = {
  sizeBytes: 1000,
  validator: '"one"',
  validatedBy: 'etag',
  contentEncoding: '',
} as const;

function laneFor(nowMs: () => number): Lane {
  return new Lane(0, CONFIG.leastBlockBytes, {
    open: () => {
      throw new Error('nothing is fetched here');
    },
    request: {
      asked: { method: 'GET', target: '/', headers: {} },
      representation: REPRESENTATION,
      silenceMs: 1000,
    },
    config: CONFIG,
    usualStartMs: () => 0,
    promisedBytesPerMs: undefined,
    mostQuestions: () => 1,
    nowMs,
    onOpened: () => {},
    onChunk: () => {},
    onMoved: () => {},
    onWhole: () => {},
    onFailed: () => {},
  });
}

test('a lane that may fetch again while it is looked for is seen at once or waited for, never forgotten', () => {
  // It goes on with each look, as the time does between two lines of a program.
  let clockMs = 0;
  const nowMs = () => {
    clockMs += 1;
    return clockMs;
  };
  const lane = laneFor(nowMs);
  const rests = new LaneRests([lane], { config: CONFIG, nowMs, observe: () => {} });
  expect(rests.afterFailure(lane, new OriginBusy(503, 0.02))).toBeUndefined();
  let look = rests.look();
  while (look.ready.length === 0) {
    expect(look.untilReadyMs).toBeLessThanOrEqual(20);
    look = rests.look();
  }
});

test('an origin that names a time is to be left alone for so long by lanes that would open new connections', () => {
  let clockMs = 0;
  const nowMs = () => clockMs;
  const lanes = [laneFor(nowMs), laneFor(nowMs)] as const;
  const rests = new LaneRests(lanes, { config: CONFIG, nowMs, observe: () => {} });
  expect(rests.isToBeLeftAlone).toBe(false);
  rests.afterFailure(lanes[0], new OriginBusy(503, 3600));
  const seen = [0, 3_599_999, 3_600_000].map((atMs) => {
    clockMs = atMs;
    return rests.isToBeLeftAlone;
  });
  expect(seen).toEqual([true, true, false]);
});

test('lanes end when two that had brought blocks are refused one after the other, and not for less', () => {
  const nowMs = () => 0;
  const refused = new AddressRefused(403);
  /** What ends lanes that are refused in this order; `given`: a block begins to come. */
  const endAfter = (order: readonly (0 | 1 | 'given')[], isProved = true) => {
    const lanes = [laneFor(nowMs), laneFor(nowMs), laneFor(nowMs)];
    for (const lane of lanes) lane.isProved = isProved;
    // One that is at work, so that those that fail are not the last.
    Object.defineProperty(lanes[2], 'isOpen', { value: true });
    const rests = new LaneRests(lanes, { config: CONFIG, nowMs, observe: () => {} });
    return order.map((what) => {
      const lane = what === 'given' ? undefined : lanes[what];
      if (lane) return rests.afterFailure(lane, refused);
      return rests.noteGiven();
    });
  };
  expect(endAfter([0, 1])).toEqual([undefined, refused]);
  expect(endAfter([0, 0, 1])).toEqual([undefined, undefined, refused]);
  expect(endAfter([0, 'given', 1])).toEqual([undefined, undefined, undefined]);
  expect(endAfter([0, 1], false), 'it takes fewer lanes').toEqual([undefined, undefined]);
});

test('a lane whose connections are not answered twice, one after the other, is left out for a time that doubles', () => {
  let clockMs = 0;
  const removals: unknown[] = [];
  const nowMs = () => clockMs;
  const lane = laneFor(nowMs);
  const rests = new LaneRests([lane], { config: CONFIG, nowMs, observe: (event) => removals.push(event) });
  rests.afterNoAnswer(lane);
  expect({ removals, ready: rests.look().ready }, 'its way may be slow').toEqual({
    removals: [],
    ready: [lane],
  });
  rests.afterNoAnswer(lane);
  expect(rests.look().untilReadyMs).toBe(10_000);
  clockMs = 10_000;
  rests.afterNoAnswer(lane);
  expect(rests.look().untilReadyMs).toBe(20_000);
  expect(removals).toMatchObject([
    { type: 'lane-removed', reason: 'unanswered', restMs: 10_000 },
    { type: 'lane-removed', reason: 'unanswered', restMs: 20_000 },
  ]);
});
