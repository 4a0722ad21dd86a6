import { LonghaulError } from '@longhaul/shared';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createEventLog } from './event-log.ts';
import type { MasterEvent } from './events.ts';

const MINUTE_MS = 60_000;
const WARN = 40;
const ERROR = 50;

function setUp() {
  const lines: Record<string, unknown>[] = [];
  const clock = { ms: 1_000_000 };
  const log = pino(
    { base: null },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { lines, clock, write: createEventLog(log, () => clock.ms) };
}

const download = { jobId: 'j', host: 'origin.example' };

const ORDINARY: readonly MasterEvent[] = [
  { type: 'planned', decision: 'chain', ...download },
  { type: 'redirected', decision: 'direct', ...download },
  { type: 'job-ended', outcome: 'complete', ...download },
  { type: 'explored', ...download },
  { type: 'feedback', verdict: 'slow', effect: 'none', ...download },
  { type: 'plan-spared', host: 'origin.example' },
  { type: 'refused', code: 'origin-not-allowed' },
  { type: 'depot-heard', depot: 'd1' },
  { type: 'depot-proved', depot: 'd1', isRenewed: true },
  { type: 'depot-refused', code: 'depot-unknown', depot: 'd1', address: '192.0.2.1' },
];

test.each(ORDINARY)('what happens all the time is no line: $type', (event) => {
  const { lines, write } = setUp();
  write(event);
  expect(lines).toEqual([]);
});

test('a depot is told of when it comes, proves where it is and goes', () => {
  const { lines, write } = setUp();
  write({ type: 'depot-registered', depot: 'd1' });
  write({ type: 'depot-proved', depot: 'd1', isRenewed: false });
  write({ type: 'depot-down', depot: 'd1' });
  expect(lines).toMatchObject([
    { depot: 'd1', msg: 'depot registered' },
    { depot: 'd1', msg: 'depot proved its address' },
    { depot: 'd1', msg: 'depot is not there any more', level: WARN },
  ]);
});

test('what others cause a thousand times a minute is one line of it, which counts the others', () => {
  const { lines, clock, write } = setUp();
  const refused: MasterEvent = { type: 'depot-refused', code: 'depot-not-proved', address: '192.0.2.1' };
  for (let count = 0; count < 1000; count += 1) write(refused);
  clock.ms += MINUTE_MS;
  write(refused);
  expect(lines).toMatchObject([{ level: WARN }, { level: WARN, heldBack: 999 }]);
  expect(lines[0]).not.toHaveProperty('heldBack');
});

test('what one depot does holds back no line of another one', () => {
  const { lines, write } = setUp();
  for (const depot of ['d1', 'd2', 'd1']) {
    write({ type: 'depot-twice', depot });
    write({ type: 'depot-not-proved', depot, code: 'address-not-here', detail: undefined });
  }
  expect(lines.map(({ depot }) => depot)).toEqual(['d1', 'd1', 'd2', 'd2']);
});

test('a failure of the bus that says why is not held back for one that does not', () => {
  const { lines, write } = setUp();
  for (const detail of [undefined, 'no such user', undefined])
    write({ type: 'bus-failed', code: 'bus-unreachable', detail });
  expect(lines.map(({ detail }) => detail)).toEqual([undefined, 'no such user']);
});

test('a request that failed inside is an error with its stack, unless it is the state folder, which tells that itself', () => {
  const { lines, write } = setUp();
  write({ type: 'failed', error: new LonghaulError('state-unusable') });
  write({ type: 'failed', error: new TypeError('x is not a function') });
  expect(lines).toMatchObject([
    {
      level: ERROR,
      msg: 'request failed',
      err: { message: 'x is not a function', stack: expect.anything() },
    },
  ]);
});
