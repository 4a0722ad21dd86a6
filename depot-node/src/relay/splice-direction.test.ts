import { constants } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPipePool } from './pipe-pool.ts';
import {
  createDirection,
  type Direction,
  type DirectionKernel,
  type End,
  holdBytes,
  step,
  undelivered,
} from './splice-direction.ts';

const { EAGAIN, ECONNRESET, EPIPE } = constants.errno;
const SOURCE = 10;
const SINK = 20;

/** What the fake kernel answers to the next moves in and out: a number of bytes, 0 for an end, or an errno below 0. */
interface Script {
  readonly taken: number[];
  readonly given: number[];
}

/** Counts instead of moving: bytes are taken from `SOURCE` and given to `SINK`. */
function fakeKernel({ taken, given }: Script) {
  let pipes = 0;
  const calls = { in: 0, out: 0, opened: 0, closed: 0 };
  const move = (from: number, maxBytes: number) => {
    calls[from === SOURCE ? 'in' : 'out'] += 1;
    const answer = (from === SOURCE ? taken : given).shift() ?? -EAGAIN;
    return Math.min(answer, maxBytes);
  };
  const kernel: DirectionKernel = {
    splice: (from, _to, maxBytes) => move(from, maxBytes),
    read: (from, _address, sizeBytes) => move(from, sizeBytes),
    write: (_to, _address, sizeBytes) => move(SINK, sizeBytes),
    addressOf: () => 4096,
  };
  const pool = createPipePool({
    makePipe: () => {
      pipes += 2;
      calls.opened += 2;
      return { output: 100 + pipes, input: 101 + pipes };
    },
    close: () => {
      calls.closed += 1;
    },
  });
  return { kernel, pool, calls };
}

function end(descriptor: number): End {
  return { descriptor, readable: true, writable: true, failed: false };
}

function direction(wanted = Infinity): Direction {
  return createDirection(end(SOURCE), end(SINK), wanted);
}

describe('one direction of a flow', () => {
  test('takes once and gives once in a step', () => {
    const { kernel, pool, calls } = fakeKernel({ taken: [1000, 1000], given: [1000, 1000] });
    const one = direction();
    expect(step(one, kernel, pool)).toBe('moved');
    expect(one.delivered).toBe(1000);
    expect(calls).toMatchObject({ in: 1, out: 1 });
  });

  test('holds a pipe only while it holds bytes', () => {
    const { kernel, pool } = fakeKernel({ taken: [1000, 1000], given: [1000, 400] });
    const one = direction();
    step(one, kernel, pool);
    expect(one.pipe).toBeUndefined();
    step(one, kernel, pool);
    expect(one.pipe).toBeDefined();
    expect(undelivered(one)).toBe(600);
  });

  test('takes nothing more while something is held: what was read before a break is always delivered', () => {
    const { kernel, pool, calls } = fakeKernel({ taken: [1000, -ECONNRESET], given: [400, -EAGAIN, 600] });
    const one = direction();
    expect(step(one, kernel, pool)).toBe('moved');
    expect(step(one, kernel, pool)).toBe('waiting');
    expect(one.sink.writable).toBe(false);
    expect(calls.in).toBe(1);
    one.sink.writable = true;
    expect(step(one, kernel, pool)).toBe('moved');
    expect(step(one, kernel, pool)).toBe('source-broke');
    expect(one.delivered).toBe(1000);
  });

  test('asks a dry source again only after an event', () => {
    const { kernel, pool, calls } = fakeKernel({ taken: [-EAGAIN, 5], given: [5] });
    const one = direction();
    expect(step(one, kernel, pool)).toBe('waiting');
    expect(step(one, kernel, pool)).toBe('waiting');
    expect(calls.in).toBe(1);
    one.source.readable = true;
    expect(step(one, kernel, pool)).toBe('moved');
  });

  test('never takes more than is wanted', () => {
    const { kernel, pool } = fakeKernel({ taken: [9_000_000, 9_000_000], given: [9_000_000, 9_000_000] });
    const one = direction(1_048_577);
    step(one, kernel, pool);
    step(one, kernel, pool);
    expect(step(one, kernel, pool)).toBe('waiting');
    expect(one).toMatchObject({ wanted: 0, delivered: 1_048_577 });
  });

  test('tells a broken sink from a broken source', () => {
    const { kernel, pool } = fakeKernel({ taken: [10], given: [-EPIPE] });
    expect(step(direction(), kernel, pool)).toBe('sink-broke');
  });

  test('goes through memory when there is no descriptor for a pipe', () => {
    const { kernel } = fakeKernel({ taken: [1000], given: [300, 700] });
    const none = createPipePool({ makePipe: () => undefined, close: () => undefined });
    const one = direction();
    expect(step(one, kernel, none)).toBe('moved');
    expect(undelivered(one)).toBe(700);
    expect(step(one, kernel, none)).toBe('moved');
    expect(one.delivered).toBe(1000);
  });

  test('loses and invents nothing, whatever the kernel answers', () => {
    const answer = fc.oneof(fc.integer({ min: 1, max: 2_000_000 }), fc.constant(-EAGAIN));
    fc.assert(
      fc.property(
        fc.array(answer),
        fc.array(answer),
        fc.integer({ min: 0, max: 9_000_000 }),
        fc.nat(500),
        (taken, given, sizeBytes, headBytes) => {
          const { kernel, pool, calls } = fakeKernel({ taken: [...taken], given: [...given] });
          const head = holdBytes(kernel, new Uint8Array(headBytes));
          const one = createDirection(end(SOURCE), end(SINK), sizeBytes, head);
          for (let turn = 0; turn < 3 * (taken.length + given.length); turn += 1) {
            step(one, kernel, pool);
            one.source.readable = true;
            one.sink.writable = true;
          }
          expect(one.delivered + undelivered(one) + one.wanted).toBe(headBytes + sizeBytes);
          expect(one.pipe !== undefined).toBe(one.inPipe > 0);
          pool.close();
          expect(calls.opened - calls.closed).toBe(one.pipe ? 2 : 0);
        },
      ),
    );
  });
});
