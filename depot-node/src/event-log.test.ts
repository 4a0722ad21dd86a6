import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createEventLog } from './event-log.ts';
import type { DepotEvent } from './plane/events.ts';

function setUp() {
  const lines: Record<string, unknown>[] = [];
  const clock = { ms: 1_000_000 };
  const log = pino(
    { base: null },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { lines, clock, observe: createEventLog(log, () => clock.ms) };
}

const refusal = (jobId?: string): DepotEvent => ({
  type: 'refusal',
  code: 'ticket-malformed',
  jobId,
  depot: 'd1',
  detail: undefined,
});

test('requests that are refused a thousand times a second are one line in a while, which counts them', () => {
  const { lines, clock, observe } = setUp();
  for (let count = 0; count < 10_000; count += 1) {
    observe(refusal());
    clock.ms += 1;
  }
  observe(refusal());
  expect(lines).toMatchObject([{ code: 'ticket-malformed' }, { code: 'ticket-malformed', heldBack: 9999 }]);
});

test('somebody with a ticket for each refusal does not fill the log', () => {
  const { lines, clock, observe } = setUp();
  for (let count = 0; count < 10_000; count += 1) observe(refusal(`job-${count}`));
  expect(lines.length).toBeLessThanOrEqual(20);
  clock.ms += 10_000;
  observe(refusal('a later one'));
  expect(lines.at(-1)).toMatchObject({ jobId: 'a later one', heldBack: 9980 });
});

test('what happens to one download is told, whatever happens to others', () => {
  const { lines, observe } = setUp();
  for (const job of [undefined, 'one', 'two', 'one']) observe(refusal(job));
  expect(lines.map(({ jobId }) => jobId)).toEqual([undefined, 'one', 'two']);
});

test('all that a machine refuses of its sockets is told, though it is told at once', () => {
  const { lines, observe } = setUp();
  observe({ type: 'sockets', what: 'mptcp-unavailable', reason: 'not supported' });
  observe({ type: 'sockets', what: 'option-refused', legClass: 'client', option: 'pacing', reason: 'no' });
  observe({ type: 'sockets', what: 'option-refused', legClass: 'depot', option: 'pacing', reason: 'no' });
  observe({ type: 'sockets', what: 'uplink-not-shared', reason: 'win32 is not Linux' });
  expect(lines).toMatchObject([
    { what: 'mptcp-unavailable' },
    { what: 'option-refused', legClass: 'client' },
    { what: 'option-refused', legClass: 'depot' },
    { what: 'uplink-not-shared' },
  ]);
});

test('no line says which network a client is of', () => {
  const { lines, observe } = setUp();
  const legs = [{ legClass: 'client', network: '192.0.2.0/24', connections: 1 }];
  observe({ type: 'tunnel', jobId: 'one', legs } as unknown as DepotEvent);
  expect(lines).toMatchObject([{ jobId: 'one', legs: [{ legClass: 'client', connections: 1 }] }]);
  expect(JSON.stringify(lines)).not.toContain('192.0.2.0');
});
