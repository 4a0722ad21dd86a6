import { constants } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBufferPool } from './buffer-pool.ts';
import {
  createDirection,
  type Direction,
  type DirectionComponents,
  holdBytes,
  step,
  undelivered,
} from './direction.ts';
import type { End } from './end.ts';
import { createPipePool } from './pipe-pool.ts';

const { EAGAIN, ECONNRESET, EPIPE } = constants.errno;
const SOURCE = 10;
const SINK = 20;

/** What the fake kernel answers to the next moves in and out: a number of bytes, 0 for an end, or an errno below 0. */
interface Script {
  readonly taken: number[];
  readonly given: number[];
}

/** Counts instead of moving: bytes are taken from `SOURCE` and given to `SINK`. */
function fakeKernel({ taken, given }: Script, isPlain = true) {
  let pipes = 0;
  const calls = { in: 0, out: 0, opened: 0, closed: 0, spliced: 0 };
  const move = (from: number, maxBytes: number) => {
    calls[from === SOURCE ? 'in' : 'out'] += 1;
    const answer = (from === SOURCE ? taken : given).shift() ?? -EAGAIN;
    return Math.min(answer, maxBytes);
  };
  const kernel: DirectionComponents['kernel'] = {
    splice: (from, _to, maxBytes) => {
      calls.spliced += 1;
      return move(from, maxBytes);
    },
    read: (from, _address, sizeBytes) => move(from, sizeBytes),
    addressOf: () => 4096,
  };
  const pipePool = createPipePool({
    makePipe: () => {
      pipes += 2;
      calls.opened += 2;
      return { output: 100 + pipes, input: 101 + pipes };
    },
    close: () => {
      calls.closed += 1;
    },
  });
  const buffers = createBufferPool(kernel);
  const lent = new Set<ArrayBuffer>();
  const components: DirectionComponents = {
    kernel,
    pipes: pipePool,
    buffers: {
      ...buffers,
      take: () => {
        const buffer = buffers.take();
        lent.add(buffer.buffer);
        return buffer;
      },
      give: (buffer) => {
        lent.delete(buffer.buffer);
        buffers.give(buffer);
      },
    },
  };
  const end = (descriptor: number): End => ({
    descriptor,
    isPlain,
    readable: true,
    writable: true,
    failed: false,
    read: (_address, sizeBytes) => move(descriptor, sizeBytes),
    write: (_address, sizeBytes) => move(descriptor, sizeBytes),
    endWriting: () => 0,
    resetOnClose: () => undefined,
    takeError: () => 0,
    close: () => undefined,
  });
  const direction = (init: Parameters<typeof createDirection>[2] = { wanted: Infinity }): Direction =>
    createDirection(end(SOURCE), end(SINK), init);
  return { kernel, components, calls, direction, lent };
}

describe('one direction of a flow', () => {
  test('takes once and gives once in a step', () => {
    const { components, calls, direction } = fakeKernel({ taken: [1000, 1000], given: [1000, 1000] });
    const one = direction();
    expect(step(one, components)).toBe('moved');
    expect(one.delivered).toBe(1000);
    expect(calls).toMatchObject({ in: 1, out: 1 });
  });

  test('holds a pipe only while it holds bytes', () => {
    const { components, direction } = fakeKernel({ taken: [1000, 1000], given: [1000, 400] });
    const one = direction();
    step(one, components);
    expect(one.pipe).toBeUndefined();
    step(one, components);
    expect(one.pipe).toBeDefined();
    expect(undelivered(one)).toBe(600);
  });

  test('takes nothing more while something is held: what was read before a break is always delivered', () => {
    const { components, calls, direction } = fakeKernel({
      taken: [1000, -ECONNRESET],
      given: [400, -EAGAIN, 600],
    });
    const one = direction();
    expect(step(one, components)).toBe('moved');
    expect(step(one, components)).toBe('waiting');
    expect(one.sink.writable).toBe(false);
    expect(calls.in).toBe(1);
    one.sink.writable = true;
    expect(step(one, components)).toBe('moved');
    expect(step(one, components)).toBe('source-broke');
    expect(one.delivered).toBe(1000);
  });

  test('asks a dry source again only after an event', () => {
    const { components, calls, direction } = fakeKernel({ taken: [-EAGAIN, 5], given: [5] });
    const one = direction();
    expect(step(one, components)).toBe('waiting');
    expect(step(one, components)).toBe('waiting');
    expect(calls.in).toBe(1);
    one.source.readable = true;
    expect(step(one, components)).toBe('moved');
  });

  test('never takes more than is wanted', () => {
    const { components, direction } = fakeKernel({
      taken: [9_000_000, 9_000_000],
      given: [9_000_000, 9_000_000],
    });
    const one = direction({ wanted: 1_048_577 });
    step(one, components);
    step(one, components);
    expect(step(one, components)).toBe('waiting');
    expect(one).toMatchObject({ wanted: 0, delivered: 1_048_577 });
  });

  test('tells a broken sink from a broken source', () => {
    const { components, direction } = fakeKernel({ taken: [10], given: [-EPIPE] });
    expect(step(direction(), components)).toBe('sink-broke');
  });

  test('goes through memory when there is no descriptor for a pipe', () => {
    const { components, direction } = fakeKernel({ taken: [1000], given: [300, 700] });
    const none = {
      ...components,
      pipes: createPipePool({ makePipe: () => undefined, close: () => undefined }),
    };
    const one = direction();
    expect(step(one, none)).toBe('moved');
    expect(undelivered(one)).toBe(700);
    expect(step(one, none)).toBe('moved');
    expect(one.delivered).toBe(1000);
  });

  test('goes through memory where the bytes of an end are coded, or somebody is shown them', () => {
    const shown: number[] = [];
    const coded = fakeKernel({ taken: [1000], given: [1000] }, false);
    const watched = fakeKernel({ taken: [1000], given: [400, 600] });
    const one = coded.direction();
    const other = watched.direction({ wanted: 5000, onTaken: (bytes) => shown.push(bytes.length) });
    expect(step(one, coded.components)).toBe('moved');
    expect(step(other, watched.components)).toBe('moved');
    expect(step(other, watched.components)).toBe('moved');
    expect([one.delivered, other.delivered, other.wanted]).toEqual([1000, 1000, 4000]);
    expect(shown).toEqual([1000]);
    expect([coded.calls.spliced, watched.calls.spliced]).toEqual([0, 0]);
    expect([coded.lent.size, watched.lent.size]).toEqual([0, 0]);
  });

  test('after many bytes has what comes in single packets gather before it becomes records', () => {
    const { components, calls, direction } = fakeKernel(
      { taken: [70_000, 1448, 25_000, 80_000, 1448], given: Array(5).fill(Infinity) },
      false,
    );
    const one = direction();
    const at = (nowMs: number) => step(one, components, nowMs);
    expect([at(0), at(0.1)], 'the first packet waits for nobody').toEqual(['moved', 'moved']);
    expect([at(0.2), at(1.9)]).toEqual(['gathering', 'gathering']);
    expect(calls.in).toBe(2);
    expect([at(2.1), at(3), at(4.2)]).toEqual(['moved', 'gathering', 'moved']);
    expect(at(4.3), 'so much at once is enough').toBe('moved');
    expect(one.delivered).toBe(70_000 + 1448 + 25_000 + 80_000 + 1448);
  });

  test('lets nothing gather at the beginning, nor where no records are made', () => {
    const short = fakeKernel({ taken: [900, 900, 900], given: [900, 900, 900] }, false);
    const spliced = fakeKernel({ taken: [70_000, 900, 900], given: [70_000, 900, 900] });
    for (const { components, direction } of [short, spliced]) {
      const one = direction();
      for (let turn = 0; turn < 3; turn += 1) expect(step(one, components, 0)).toBe('moved');
    }
  });

  test('loses and invents nothing, whatever the kernel answers', () => {
    const answer = fc.oneof(fc.integer({ min: 1, max: 2_000_000 }), fc.constant(-EAGAIN));
    fc.assert(
      fc.property(
        fc.array(answer),
        fc.array(answer),
        fc.integer({ min: 0, max: 9_000_000 }),
        fc.nat(500),
        fc.boolean(),
        (taken, given, sizeBytes, headBytes, isPlain) => {
          const script = { taken: [...taken], given: [...given] };
          const { components, calls, direction, kernel, lent } = fakeKernel(script, isPlain);
          const held = holdBytes(kernel, new Uint8Array(headBytes));
          const one = direction({ wanted: sizeBytes, held });
          for (let turn = 0; turn < 3 * (taken.length + given.length); turn += 1) {
            step(one, components, turn);
            one.source.readable = true;
            one.sink.writable = true;
          }
          expect(one.delivered + undelivered(one) + one.wanted).toBe(headBytes + sizeBytes);
          expect(one.pipe !== undefined).toBe(one.inPipe > 0);
          expect(lent.size).toBe(one.held?.isPooled === true ? 1 : 0);
          components.pipes.close();
          expect(calls.opened - calls.closed).toBe(one.pipe ? 2 : 0);
        },
      ),
    );
  });
});
