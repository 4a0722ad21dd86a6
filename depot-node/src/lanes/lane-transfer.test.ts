import { once } from 'node:events';
import { connect } from 'node:net';
import { KIB, MIB } from '@longhaul/shared';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Part, Representation } from '../entry/representation.ts';
import { BlockOrigin, unlikeBytes } from '../testing/block-origin.ts';
import { type LanesEnd, runLanes } from './lane-transfer.ts';
import type { LaneEvent, LaneWays, WayPromise } from './lane-ways.ts';
import { lanesSchema } from './lanes-config.ts';
import { openLane } from './open-lane.ts';

const CONTENT = unlikeBytes(4 * MIB);
const WHOLE: Part = { startByte: 0, endByte: CONTENT.length };
const REPRESENTATION: Representation = {
  sizeBytes: CONTENT.length,
  validator: '"one"',
  validatedBy: 'etag',
  contentEncoding: '',
};

let origin: BlockOrigin;
let port = 0;

beforeAll(async () => {
  origin = new BlockOrigin(CONTENT);
  port = await origin.listen();
});
beforeEach(() => {
  origin.manners = {};
  origin.asked.length = 0;
  origin.mostAtOnce = 0;
});
afterAll(() => origin.close());

interface Run extends LanesEnd {
  readonly body: Buffer;
  readonly events: LaneEvent[];
}

interface Order {
  readonly part?: Part;
  readonly lanes?: number;
  readonly config?: object;
  /** Chunks after which the client rests, until this promise is kept. */
  readonly rests?: (chunks: number) => Promise<void> | undefined;
  readonly promise?: (lane: number) => WayPromise;
  readonly signal?: AbortSignal;
  readonly left?: AbortSignal;
  readonly onEvent?: (event: LaneEvent) => void;
  readonly refuses?: (lane: number) => boolean;
}

const NEVER = new AbortController().signal;

async function download(order: Order = {}): Promise<Run> {
  const { part = WHOLE, lanes = 4, config = {}, rests, promise, onEvent, refuses } = order;
  const checked = lanesSchema.parse({ firstBlockBytes: 64 * KIB, leastBlockBytes: 16 * KIB, ...config });
  const nowMs = () => performance.now();
  const ways: LaneWays = {
    open: (lane) =>
      openLane(
        async (firstBytes, signal) => {
          const stream = connect({ host: '127.0.0.1', port: refuses?.(lane) ? 1 : port, signal });
          await once(stream, 'connect');
          stream.write(firstBytes);
          return { stream, chain: [`d${lane}`], promise: promise?.(lane) };
        },
        {
          path: '/file',
          headers: { host: 'origin.test' },
          silenceMs: checked.silenceSeconds * 1000,
          nowMs,
        },
        REPRESENTATION,
      ),
  };
  const chunks: Buffer[] = [];
  const events: LaneEvent[] = [];
  let rest: Promise<void> | undefined;
  const end = await runLanes({
    part,
    laneCount: lanes,
    ways,
    sink: {
      write: (chunk) => {
        chunks.push(chunk);
        rest = rests?.(chunks.length);
        return rest === undefined;
      },
      drained: () => rest ?? Promise.resolve(),
    },
    config: checked,
    signal: order.signal ?? NEVER,
    left: order.left ?? NEVER,
    nowMs,
    observe: (event) => {
      events.push(event);
      onEvent?.(event);
    },
  });
  return { ...end, body: Buffer.concat(chunks), events };
}

function expectBytes({ body, bytes }: Run, { startByte, endByte }: Part): void {
  expect(bytes).toBe(body.length);
  expect(body.equals(CONTENT.subarray(startByte, endByte))).toBe(true);
}

describe.each(['coupled', 'plain'] as const)('lanes under %s control', (control) => {
  const lanes = (order: Order = {}) => download({ ...order, config: { control, ...order.config } });

  test('deliver a file whole over several connections, each of which serves many blocks', async () => {
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(new Set(origin.asked.map(({ connection }) => connection)).size).toBe(4);
    expect(origin.asked.length).toBeGreaterThan(4);
  });

  test('deliver every part byte for byte, whatever breaks, whatever is slow, and whoever reads in pauses', async () => {
    const property = fc.asyncProperty(
      fc.record({
        startByte: fc.integer({ min: 0, max: MIB }),
        sizeBytes: fc.integer({ min: 0, max: 3 * MIB }),
        laneCount: fc.integer({ min: 1, max: 8 }),
        breaks: fc.array(fc.option(fc.integer({ min: 1, max: 400 * KIB })), { maxLength: 6 }),
        slow: fc.array(fc.option(fc.integer({ min: 1000, max: 20_000 })), { maxLength: 6 }),
        pauseEvery: fc.option(fc.integer({ min: 1, max: 20 })),
        closes: fc.boolean(),
        bufferBytes: fc.integer({ min: MIB, max: 3 * MIB }),
      }),
      async ({ startByte, sizeBytes, laneCount, breaks, slow, pauseEvery, closes, bufferBytes }) => {
        const first = origin.connections;
        origin.manners = {
          closes,
          breaksAfter: (connection) => breaks[connection - first] ?? undefined,
          bytesPerMs: (connection) => slow[connection - first] ?? undefined,
        };
        const part = { startByte, endByte: startByte + sizeBytes };
        const run = await lanes({
          part,
          lanes: laneCount,
          config: { bufferBytes, retrySeconds: 0.1 },
          rests: (count) =>
            pauseEvery !== null && count % pauseEvery === 0
              ? new Promise((resolve) => setImmediate(resolve))
              : undefined,
        });
        expect(run.failure).toBeUndefined();
        expect(run.outcome).toBe('complete');
        expectBytes(run, part);
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
});
