import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { LonghaulError } from '@longhaul/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EarlyBytes } from '../legs/early-bytes.ts';
import { type PreparedWayEnd, PreparedWays } from './prepared-ways.ts';

const ORIGIN = { scheme: 'http', host: 'origin.example', port: 80 } as const;
const over = (ticket = 'a', client = '192.0.2.0/24') => ({
  ticket,
  chainIndex: 0,
  chain: ['d1', 'd2'],
  authority: { host: ORIGIN.host, port: ORIGIN.port },
  client,
});

/** A way that is being made, and the origin at its far end. */
interface Making {
  readonly early: EarlyBytes;
  readonly signal: AbortSignal;
  /** The depot's end. */
  readonly near: Duplex;
  readonly origin: Duplex;
  readonly stand: () => void;
  readonly fail: (failure: Error) => void;
}

function setUp({ most = 10, waitsMs = 60_000 } = {}) {
  const makings: Making[] = [];
  const ends: PreparedWayEnd[] = [];
  let nowMs = 1_000;
  const ways = new PreparedWays({
    most,
    waitsMs,
    nowMs: () => nowMs,
    onEnd: (end) => ends.push(end),
    open: (_over, _origin, early, signal) => {
      const [near, origin] = duplexPair();
      const made = Promise.withResolvers<Duplex>();
      signal.addEventListener('abort', () => made.reject(new LonghaulError('origin-unreachable')));
      makings.push({
        early,
        signal,
        near,
        origin,
        stand: () => made.resolve(near),
        fail: made.reject,
      });
      return made.promise;
    },
  });
  const lastMaking = () => makings.at(-1) ?? expect.fail('no way is being made');
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ways, makings, ends, lastMaking, pass };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;
const readAll = (stream: Duplex) => String(stream.read() ?? '');

test('a way that stands is there for the first who asks, and for nobody after him', async () => {
  const { ways, ends, lastMaking } = setUp();
  ways.prepare(over(), ORIGIN);
  lastMaking().stand();
  await settled();
  const way = ways.take(over(), ORIGIN);
  expect(ways.take(over(), ORIGIN)).toBeUndefined();
  const stream = await way?.use(Buffer.from('GET / HTTP/1.1\r\n\r\n'), never);
  expect(stream).toBe(lastMaking().near);
  await settled();
  expect(readAll(lastMaking().origin)).toBe('GET / HTTP/1.1\r\n\r\n');
  expect(ends).toEqual(['used']);
});

test.each([
  ['another ticket', over('b'), ORIGIN],
  ['another chain of the ticket', { ...over(), chainIndex: 1 }, ORIGIN],
  ['a client of another network', over('a', '198.51.100.0/24'), ORIGIN],
  ['another origin', over(), { ...ORIGIN, port: 81 }],
  ['the same origin over https', over(), { ...ORIGIN, scheme: 'https' }],
] as const)('a way is not there for %s', (_, other, origin) => {
  const { ways } = setUp();
  ways.prepare(over(), ORIGIN);
  expect(ways.take(other, origin)).toBeUndefined();
});

test('a way is there for a client that asked its master by IPv4 and comes by IPv6, or the other way round', () => {
  const { ways } = setUp();
  const [v4, v6] = ['192.0.2.0/24', '2001:db8:5::/48'];
  ways.prepare(over('a', v4), ORIGIN);
  ways.prepare(over('b', v6), ORIGIN);
  expect(ways.take(over('b', '2001:db8:6::/48'), ORIGIN)).toBeUndefined();
  expect(ways.take(over('a', v6), ORIGIN)).toBeDefined();
  expect(ways.take(over('b', v4), ORIGIN)).toBeDefined();
  expect(ways.take(over('b', v6), ORIGIN), 'one way, whoever took it').toBeUndefined();
});

test('a way took as long as its making, whether its client came later or sooner', async () => {
  const { ways, makings, pass } = setUp();
  for (const ticket of 'ab') ways.prepare(over(ticket), ORIGIN);
  pass(100);
  const early = ways.take(over('b'), ORIGIN);
  pass(200);
  for (const { stand } of makings) stand();
  await settled();
  pass(2_000);
  expect(ways.take(over('a'), ORIGIN)?.openedAtMs(3_300), 'asked at 3300').toBe(3_000);
  expect(early?.openedAtMs(1_100), 'asked at 1100, stood at 1300').toBe(1_000);
});

test('what is asked while a way is made reaches the origin whole and once, wherever it stands by then', async () => {
  const before = fc.constantFrom('not at all', 'with the request', 'and goes on');
  await fc.assert(
    fc.asyncProperty(
      before,
      fc.uint8Array({ minLength: 1, maxLength: 200_000 }),
      async (goesAlong, bytes) => {
        const { ways, lastMaking } = setUp();
        ways.prepare(over(), ORIGIN);
        const { early, near, origin, stand } = lastMaking();
        const come: Buffer[] = [];
        origin.on('data', (chunk: Buffer) => come.push(chunk));
        const stop = goesAlong === 'and goes on' ? early.sendOver(near) : undefined;
        const using = ways.take(over(), ORIGIN)?.use(Buffer.from(bytes), never);
        if (goesAlong === 'with the request') early.sendOver(near)();
        await settled();
        stop?.();
        stand();
        await using;
        near.end();
        await once(origin, 'end');
        expect(Buffer.concat(come).equals(Buffer.from(bytes))).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test('a way that nobody comes for is ended after a while, standing or not, and its place is free', async () => {
  const { ways, ends, makings } = setUp({ most: 2, waitsMs: 20 });
  ways.prepare(over('a'), ORIGIN);
  makings[0]?.stand();
  await settled();
  const closed = once(makings[0]?.origin ?? expect.fail(), 'end');
  makings[0]?.origin.resume();
  await closed;
  ways.prepare(over('b'), ORIGIN);
  await expect.poll(() => ends).toEqual(['unused', 'unused']);
  expect(makings[1]?.signal.aborted).toBe(true);
  expect(ways.take(over('b'), ORIGIN)).toBeUndefined();
});

test('a way that its origin has ended, or speaks first on, is not given', async () => {
  for (const act of [
    (origin: Duplex) => origin.end(),
    (origin: Duplex) => origin.write('HTTP/1.1 408 \r\n'),
  ]) {
    const { ways, ends, lastMaking } = setUp();
    ways.prepare(over(), ORIGIN);
    const { near, origin, stand } = lastMaking();
    stand();
    await settled();
    act(origin);
    // As a socket does, which reads by itself.
    near.read(0);
    await settled();
    expect(ways.take(over(), ORIGIN)).toBeUndefined();
    expect(ends).toEqual(['unused']);
  }
});

test('a way that cannot be made fails for nobody but who has taken it', async () => {
  const { ways, ends, makings } = setUp();
  ways.prepare(over('a'), ORIGIN);
  makings[0]?.fail(new LonghaulError('next-depot-unreachable', { depot: 'd2' }));
  await settled();
  expect(ends).toEqual(['failed']);
  expect(ways.take(over('a'), ORIGIN)).toBeUndefined();
  ways.prepare(over('b'), ORIGIN);
  const using = ways.take(over('b'), ORIGIN)?.use(Buffer.from('GET'), never);
  makings[1]?.fail(new LonghaulError('next-depot-unreachable', { depot: 'd2' }));
  await expect(using).rejects.toMatchObject({ code: 'next-depot-unreachable', depot: 'd2' });
});

test('a client that leaves while its way is made ends the making', async () => {
  const { ways, lastMaking } = setUp();
  ways.prepare(over(), ORIGIN);
  const left = new AbortController();
  const using = ways.take(over(), ORIGIN)?.use(Buffer.from('GET'), left.signal);
  left.abort();
  await expect(using).rejects.toMatchObject({ code: 'origin-unreachable' });
  expect(lastMaking().signal.aborted).toBe(true);
});

test('of all that wait one client network has no more than it leaves free, and all are ended at the end', async () => {
  const { ways, ends, makings } = setUp({ most: 8 });
  for (const ticket of 'abcdefgh') ways.prepare(over(ticket), ORIGIN);
  expect(makings).toHaveLength(4);
  ways.prepare(over('other', '198.51.100.0/24'), ORIGIN);
  expect(makings).toHaveLength(5);
  ways.prepare(over('a'), ORIGIN);
  expect(makings, 'one for each ticket').toHaveLength(5);
  ways.close();
  ways.prepare(over('late'), ORIGIN);
  await settled();
  expect(ends).toEqual(Array.from({ length: 5 }, () => 'unused'));
  expect(makings).toHaveLength(5);
  expect(makings.every(({ signal }) => signal.aborted)).toBe(true);
});
