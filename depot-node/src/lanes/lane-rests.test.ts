import { expect, test } from 'vitest';
import { OriginBusy } from '../origin/joined-part.ts';
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
