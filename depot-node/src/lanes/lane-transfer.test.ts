import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { ChainPromise } from '@longhaul/shared';
import { KIB, MIB } from '@longhaul/shared';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { openKernel } from '../kernel/open-kernel.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { AheadConnection } from '../origin/ahead-connection.ts';
import { type OpenStream, OriginConnection } from '../origin/origin-connection.ts';
import type { Part, Representation } from '../origin/representation.ts';
import type { LaneEvent } from '../plane/events.ts';
import type { ReadAnswers } from '../relay/answer-reader.ts';
import { socketPair } from '../relay/promises/socket-pair.ts';
import { openSplicePlane } from '../relay/splice-plane.ts';
import { type AskedRange, BlockOrigin, unlikeBytes } from '../testing/block-origin.ts';
import { unstalledMs } from '../testing/unstalled-clock.ts';
import type { NewConnection } from './lane.ts';
import { type CarrierListener, carryHere, type OpenCarrier } from './lane-carrier.ts';
import { LaneMemory, type TransferMemory } from './lane-memory.ts';
import { type FirstBlock, type LanesEnd, type LanesWork, runLanes } from './lane-transfer.ts';
import { lanesSchema } from './lanes-config.ts';

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
let downloads = 0;

beforeAll(async () => {
  origin = new BlockOrigin(CONTENT);
  port = await origin.listen();
});
beforeEach(() => {
  origin.manners = {};
});
afterAll(() => origin.close());

interface Run extends LanesEnd {
  /** What the origin was asked for by this download. */
  readonly asked: AskedRange[];
  readonly body: Buffer;
  readonly events: LaneEvent[];
}

interface Order {
  readonly part?: Part;
  readonly lanes?: number;
  readonly mostLanes?: () => number;
  readonly config?: object;
  /** Chunks after which the client rests, until this promise is kept. */
  readonly rests?: (chunks: number) => Promise<void> | undefined;
  readonly promise?: (lane: number) => ChainPromise;
  /** Of the plan. */
  readonly planned?: ChainPromise;
  readonly signal?: AbortSignal;
  readonly left?: AbortSignal;
  readonly memory?: TransferMemory;
  readonly watch?: (work: LanesWork) => () => void;
  readonly onEvent?: (event: LaneEvent) => void;
  readonly refuses?: (lane: number) => boolean;
  /** Asked for before the transfer, over what becomes lane 0. */
  readonly first?: Part;
  /** Whether lanes are asked for several blocks at once. */
  readonly isAhead?: boolean;
  /** Whether a relay thread carries the bytes, and reads the answers that it can. */
  readonly byThread?: boolean;
}

/** What carries a download, and where it arrives. */
interface TestCarrier {
  readonly carry: OpenCarrier;
  readonly readAnswers?: ReadAnswers;
  /** What the client has got, so many bytes at least. */
  readonly received: (bytes: number) => Promise<Buffer>;
}

function testCarrier(rests: Order['rests']): TestCarrier {
  const chunks: Buffer[] = [];
  let rest: Promise<void> | undefined;
  const carry = carryHere({
    write: (chunk) => {
      chunks.push(chunk);
      rest = rests?.(chunks.length);
      return rest === undefined;
    },
    drained: () => rest ?? Promise.resolve(),
  });
  return { carry, received: async () => Buffer.concat(chunks) };
}

/** So little fits between a thread and a client that what a client leaves unread is noticed. */
const SOCKET_BYTES = 262_144;

async function threadCarrier(
  part: Part,
  rests: Order['rests'],
  memory: TransferMemory,
): Promise<TestCarrier> {
  const [client, sink] = await socketPair();
  const { kernel } = openKernel();
  kernel?.setNumber(descriptorOf(client) ?? -1, SOCKET_OPTIONS.receiveBuffer, SOCKET_BYTES);
  kernel?.setNumber(descriptorOf(sink) ?? -1, SOCKET_OPTIONS.sendBuffer, SOCKET_BYTES);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const arrival = new EventEmitter();
  client.on('error', () => {});
  client.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    arrival.emit('bytes');
    const rest = rests?.(chunks.length);
    if (!rest) return;
    client.pause();
    void rest.then(() => client.resume());
  });
  let listener: CarrierListener | undefined;
  const merge = await plane?.merge(sink, {
    ...part,
    backBytes: 0,
    stallMs: 60_000,
    held: memory.counters,
    signal: NEVER,
    onChange: () => listener?.onChange(),
    onLast: () => {},
    onOver: (end) => (end === 'complete' ? listener?.onChange() : listener?.onLeft()),
  });
  if (!merge) throw new Error('no thread takes it');
  return {
    carry: (_, told) => {
      listener = told;
      return merge;
    },
    readAnswers: merge.readAnswers,
    received: async (least) => {
      for (const isLess = () => bytes < least; isLess(); ) await once(arrival, 'bytes');
      client.destroy();
      sink.destroy();
      return Buffer.concat(chunks);
    },
  };
}

const NEVER = new AbortController().signal;

/** Of a chain that loses nothing: one lane is to try alone whether it brings that. */
const clean = (rateBps: number): ChainPromise => ({ rateBps, worstRttMs: 20, worstLossRate: 0 });

async function download(order: Order = {}): Promise<Run> {
  const { part = WHOLE, lanes = 4, config = {}, rests, promise, onEvent, refuses } = order;
  let isAhead = order.isAhead === true;
  const memory = order.memory ?? new LaneMemory(1024 * MIB).join('here');
  const carrier = order.byThread === true ? await threadCarrier(part, rests, memory) : testCarrier(rests);
  const aheadInit = {
    readAnswers: carrier.readAnswers,
    isFit: () => false,
    noteFit: () => {},
    noteUnfit: () => {
      isAhead = false;
    },
    noteBreak: () => {},
  };
  const checked = lanesSchema.parse({ firstBlockBytes: 64 * KIB, leastBlockBytes: 16 * KIB, ...config });
  downloads += 1;
  const asked = { method: 'GET' as const, target: `/file-${downloads}`, headers: { host: 'origin.test' } };
  const open = (lane: number): NewConnection => {
    const open: OpenStream = async (firstBytes, signal) => {
      const stream = connect({ host: '127.0.0.1', port: refuses?.(lane) ? 1 : port, signal });
      await once(stream, 'connect');
      origin.lanes.set(stream.localPort ?? 0, lane);
      stream.write(firstBytes);
      return stream;
    };
    const connection = isAhead ? new AheadConnection(open, aheadInit) : new OriginConnection(open);
    const route = { chain: [`d${lane}`], promise: promise?.(lane) };
    return { connection, asksAlong: true, route: connection.stands.then(() => route) };
  };
  const askFirst = async (part: Part): Promise<FirstBlock> => {
    const lane = open(0);
    const openedAtMs = unstalledMs();
    const headers = { ...asked.headers, range: `bytes=${part.startByte}-${part.endByte - 1}` };
    await lane.connection.ask({ ...asked, headers }, { answerMs: 5000 });
    return { ...lane, part, openedAtMs, askedAtMs: openedAtMs };
  };
  const first = order.first && (await askFirst(order.first));
  const events: LaneEvent[] = [];
  const end = await runLanes({
    part,
    laneCount: lanes,
    mostLanes: order.mostLanes,
    open,
    promise: order.planned,
    mostQuestions: () => (isAhead ? 4 : 1),
    request: { asked, representation: REPRESENTATION, silenceMs: checked.silenceSeconds * 1000 },
    first,
    carry: carrier.carry,
    config: checked,
    memory,
    signal: order.signal ?? NEVER,
    left: order.left ?? NEVER,
    nowMs: unstalledMs,
    watch: order.watch,
    observe: (event) => {
      events.push(event);
      onEvent?.(event);
    },
  });
  const ranges = origin.asked.filter((range) => range.path === asked.target);
  return { ...end, asked: ranges, body: await carrier.received(end.bytes), events };
}

function expectBytes({ body, bytes }: Run, { startByte, endByte }: Part): void {
  expect(bytes).toBe(body.length);
  expect(body.equals(CONTENT.subarray(startByte, endByte))).toBe(true);
}

const opened = await openSplicePlane({ threads: 1 });
const plane = opened.ok ? opened.plane : undefined;
afterAll(() => plane?.close());

describe.each([
  ['coupled', 'singly', 'here'],
  ['coupled', 'ahead', 'here'],
  ['plain', 'singly', 'here'],
  ['plain', 'ahead', 'here'],
  ...(plane
    ? ([
        ['coupled', 'singly', 'by a thread'],
        ['coupled', 'ahead', 'by a thread'],
      ] as const)
    : []),
] as const)('lanes under %s control, asked %s, carried %s,', (control, how, where) => {
  const lanes = (order: Order = {}) =>
    download({
      isAhead: how === 'ahead',
      byThread: where !== 'here',
      ...order,
      config: { control, ...order.config },
    });

  test('deliver a file whole over several connections, each of which serves many blocks', async () => {
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(new Set(run.asked.map(({ lane }) => lane)).size).toBe(4);
    const connections = new Set(run.asked.map(({ connection }) => connection)).size;
    expect(run.asked.length).toBeGreaterThan(connections);
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
        beginsAlone: fc.boolean(),
      }),
      async (given) => {
        const { startByte, sizeBytes, laneCount, breaks, slow, pauseEvery, closes, bufferBytes } = given;
        const beginsAlone = given.beginsAlone && sizeBytes > 0 && !breaks[0];
        const first = origin.connections;
        origin.manners = {
          closes,
          breaksAfter: ({ connection }) => breaks[connection - first] ?? undefined,
          bytesPerMs: ({ connection }) => slow[connection - first] ?? undefined,
        };
        const part = { startByte, endByte: startByte + sizeBytes };
        const run = await lanes({
          part,
          lanes: laneCount,
          config: { bufferBytes, retrySeconds: 0.1 },
          ...(beginsAlone
            ? {
                planned: clean(40e6),
                first: { startByte, endByte: startByte + Math.min(sizeBytes, 64 * KIB) },
              }
            : {}),
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

  test('that all begin anew over other connections bring each byte once, whenever that is', async () => {
    const places = fc.array(fc.integer({ min: 1, max: CONTENT.length - 1 }), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(places, async (atBytes) => {
      const left = atBytes.toSorted((one, other) => one - other);
      let work: LanesWork | undefined;
      let hasEnded = false;
      const run = await lanes({
        watch: (told) => {
          work = told;
          return () => {
            hasEnded = true;
          };
        },
        rests: () => {
          const [next] = left;
          if (next !== undefined && (work?.bytes() ?? 0) >= next) {
            left.shift();
            setImmediate(() => work?.reopen());
          }
          return undefined;
        },
      });
      expect({ outcome: run.outcome, hasEnded }).toEqual({ outcome: 'complete', hasEnded: true });
      expectBytes(run, WHOLE);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  test('are held up, for who watches them, at the end of the file and not before', async () => {
    const seen: { isHeldUp: boolean; lanes: number }[] = [];
    const run = await lanes({
      watch: (work) => {
        const look = () => ({ isHeldUp: work.isHeldUp(), lanes: work.lanes() });
        setImmediate(() => seen.push(look()));
        return () => seen.push(look());
      },
    });
    expect(run.outcome).toBe('complete');
    expect(seen).toMatchObject([{ isHeldUp: false }, { isHeldUp: true }]);
  });

  test('are no more than they may be, also when that becomes less while they run', async () => {
    const before = origin.asked.length;
    origin.manners = { bytesPerMs: () => 1000 };
    const haveAllBegun = () => origin.asked.slice(before).some(({ beside }) => beside === 3);
    const run = await lanes({ mostLanes: () => (haveAllBegun() ? 1 : 4) });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    // Blocks that were asked for are brought to their end; each further one begins when no other connection is at work.
    const beside = run.asked.map((range) => range.beside);
    expect(Math.max(...beside)).toBe(3);
    const later = beside.slice(beside.lastIndexOf(3) + 1).filter((others) => others === 0);
    expect(later.length).toBeGreaterThan(1);
    expect(beside.slice(-later.length)).toEqual(later);
  });

  test('that may be at work go on over the connections that they have, while others rest', async () => {
    const before = origin.asked.length;
    origin.manners = { bytesPerMs: () => 1000 };
    const haveAllBegun = () => origin.asked.slice(before).some(({ beside }) => beside === 3);
    const run = await lanes({
      mostLanes: () => (haveAllBegun() ? 2 : 4),
      config: { firstBlockBytes: 16 * KIB, leastBlockBytes: 16 * KIB, alphaBytes: 64 * KIB },
    });
    expectBytes(run, WHOLE);
    const count = (type: LaneEvent['type']) => run.events.filter((event) => event.type === type).length;
    // Who loses a block that another lane was asked for as well loses its connection, too, and so does one
    // that breaks or holds the others up.
    const lost = count('block-asked-again') + count('lane-broke') + count('lane-removed');
    expect(count('lane-opened') - lost).toBeLessThanOrEqual(4);
  });

  test('look for work when something has changed, not all the time', async () => {
    origin.manners = { delayMs: 500 };
    let looks = 0;
    const mostLanes = () => {
      looks += 1;
      return 4;
    };
    const part = { startByte: 0, endByte: 16 * KIB };
    const run = await lanes({ part, mostLanes });
    expectBytes(run, part);
    // At the start, at the first byte, and at the block's end; three lanes had nothing to do all the time.
    expect(looks).toBeLessThanOrEqual(4);
  });

  test('do without one that brings another version: servers behind one name may differ', async () => {
    origin.manners = { etag: ({ lane }) => (lane === 2 ? '"two"' : '"one"'), bytesPerMs: () => 4000 };
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(run.events).toContainEqual({
      type: 'lane-removed',
      lane: 2,
      reason: 'other-version',
      restMs: 10_000,
    });
  });

  test('end when none of them brings the version that was begun, with nothing of the new one', async () => {
    const before = origin.answered;
    origin.manners = {
      etag: () => (origin.answered - before > 2 ? '"two"' : '"one"'),
      bytesPerMs: () => 1000,
    };
    const run = await lanes();
    expect(run).toMatchObject({ outcome: 'upstream-broke', failure: { code: 'origin-changed' } });
    expectBytes(run, { startByte: 0, endByte: run.bytes });
  });

  test('do without one that is given other bytes than it asked for', async () => {
    origin.manners = {
      answer: (_request, response, { lane }) => {
        if (lane !== 1) return false;
        const headers = { etag: '"one"', 'content-range': `bytes 7-1006/${CONTENT.length}` };
        response.writeHead(206, headers).end(CONTENT.subarray(7, 1007));
        return true;
      },
    };
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(run.events).toContainEqual({ type: 'lane-broke', lane: 1, code: 'origin-bad-answer' });
  });

  test.each([
    ['more', 1],
    ['fewer', -1],
  ])('never take a body with %s bytes than its head says for whole', async (_, difference) => {
    origin.manners = {
      answer: (_request, response) => {
        const { startByte, endByte } = origin.asked.at(-1) ?? WHOLE;
        const range = `bytes ${startByte}-${endByte - 1}/${CONTENT.length}`;
        response.writeHead(206, { etag: '"one"', 'content-range': range, 'transfer-encoding': 'chunked' });
        response.end(CONTENT.subarray(startByte, endByte + difference));
        return true;
      },
    };
    const part = { startByte: 0, endByte: 300 * KIB };
    const run = await lanes({ part, config: { tries: 1 } });
    // What was right of it is used; the rest is asked for until the tries are over, or one byte is left.
    if (run.outcome === 'complete') expectBytes(run, part);
    else expectBytes(run, { startByte: 0, endByte: run.bytes });
    expect(run.events.some(({ type }) => type === 'lane-broke')).toBe(true);
  });

  test('go on with those that the origin takes when it refuses the others', async () => {
    origin.manners = {
      bytesPerMs: () => 20_000,
      answer: (_request, response, { lane }) => {
        if (lane < 2) return false;
        response.writeHead(503).end();
        return true;
      },
    };
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(run.asked.filter(({ lane }) => lane > 1)).toHaveLength(2);
    expect(run.events).toContainEqual({ type: 'lane-removed', lane: 3, reason: 'refused', restMs: 10_000 });
  });

  test('do not ask again and again for more connections than the origin answers', async () => {
    origin.manners = { bytesPerMs: () => 1000, answer: (_request, _response, { lane }) => lane > 1 };
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    for (const lane of [2, 3]) {
      const connections = new Set(
        run.asked.filter((range) => range.lane === lane).map((range) => range.connection),
      );
      expect(connections.size).toBeLessThanOrEqual(2);
    }
  });

  test('open no lane anew before the time that the origin asks for', async () => {
    const refused = new Set<number>();
    origin.manners = {
      bytesPerMs: () => 2000,
      answer: (_request, response, { lane }) => {
        if (lane < 1 || refused.has(lane)) return false;
        refused.add(lane);
        response.writeHead(503, { 'retry-after': '1' }).end();
        return true;
      },
    };
    const run = await lanes({ config: { retrySeconds: 0.1 } });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    for (const lane of [1, 2, 3]) {
      const [first, next] = run.asked.filter((range) => range.lane === lane);
      expect((next?.atMs ?? Number.POSITIVE_INFINITY) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(990);
    }
  });

  test('give up an origin that breaks off each time, though it sends a byte', async () => {
    origin.manners = { breaksAfter: () => 1 };
    const run = await lanes({ lanes: 1, config: { tries: 2 } });
    expect(run).toMatchObject({ outcome: 'upstream-broke', failure: { code: 'origin-unreachable' } });
    expectBytes(run, { startByte: 0, endByte: run.bytes });
  });

  test('leave an origin alone as long as it asks', async () => {
    let refusedAtMs = 0;
    let askedAgainAtMs = 0;
    origin.manners = {
      answer: (_request, response) => {
        if (refusedAtMs > 0) {
          askedAgainAtMs ||= performance.now();
          return false;
        }
        refusedAtMs = performance.now();
        response.writeHead(429, { 'retry-after': '1' }).end();
        return true;
      },
    };
    const run = await lanes({ lanes: 1 });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(askedAgainAtMs - refusedAtMs).toBeGreaterThanOrEqual(1000);
  });

  test('do not wait longer than the configuration lets them', async () => {
    origin.manners = {
      answer: (_request, response) => {
        response.writeHead(503, { 'retry-after': '3600' }).end();
        return true;
      },
    };
    const run = await lanes();
    expect(run).toMatchObject({ outcome: 'upstream-broke', bytes: 0, failure: { code: 'origin-busy' } });
  });

  test('do with one where no other way can be made', async () => {
    const run = await lanes({ refuses: (lane) => lane > 0 });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
  });

  test('tell what failed and how far they came when no way is left', async () => {
    const none = await lanes({ refuses: () => true, config: { tries: 2 } });
    expect(none).toMatchObject({ outcome: 'upstream-broke', bytes: 0 });
    let isDead = false;
    origin.manners = {
      breaksAfter: () => {
        isDead = true;
        return 200_001;
      },
    };
    const some = await lanes({ refuses: () => isDead, config: { tries: 2 } });
    expect(some).toMatchObject({ outcome: 'upstream-broke', failure: { code: 'origin-unreachable' } });
    expect(some.bytes).toBeGreaterThan(0);
    expectBytes(some, { startByte: 0, endByte: some.bytes });
  });

  test('bring the bytes of a silent lane over another', async () => {
    origin.manners = {
      answer: (_request, response, { lane }) => {
        if (lane !== 0) return false;
        const { startByte, endByte } = origin.asked.at(-1) ?? WHOLE;
        const range = `bytes ${startByte}-${endByte - 1}/${CONTENT.length}`;
        response.writeHead(206, { etag: '"one"', 'content-range': range });
        response.write(CONTENT.subarray(startByte, startByte + 1000));
        return true;
      },
    };
    const run = await lanes({ config: { silenceSeconds: 0.3 } });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
  });

  test('are not held up by a slow one: it gets less to do, and others bring what it owes', async () => {
    origin.manners = { delayMs: 2, bytesPerMs: ({ lane }) => (lane === 0 ? 20 : 4000) };
    const run = await lanes();
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    // Alone it would have needed three seconds for its first block.
    expect(run.events.some(({ type }) => type === 'block-asked-again')).toBe(true);
  });

  test('take none into account that only holds the others up, and try it again later', async () => {
    origin.manners = { delayMs: 2, bytesPerMs: ({ lane }) => (lane === 0 ? 20 : 2000) };
    const run = await lanes({ config: { bufferBytes: MIB, retrySeconds: 0.3 } });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    const removals = run.events.filter((event) => event.type === 'lane-removed');
    expect(removals[0]).toEqual({ type: 'lane-removed', lane: 0, reason: 'degraded', restMs: 300 });
    expect(new Set(removals.map(({ lane }) => lane))).toEqual(new Set([0]));
  });

  test('deliver every byte however little memory all of them have', async () => {
    const memory = new LaneMemory(300 * KIB);
    origin.manners = { bytesPerMs: ({ lane }) => (lane === 0 ? 2000 : 20_000) };
    const runs = await Promise.all([1, 2, 3].map(() => lanes({ memory: memory.join('here') })));
    for (const run of runs) {
      expect(run.outcome).toBe('complete');
      expectBytes(run, WHOLE);
      // None was taken for silent that waited for room.
      expect(run.events.filter(({ type }) => type === 'lane-broke')).toEqual([]);
    }
    expect(memory.heldBytes).toBe(0);
  });

  test.each([
    ['', 4],
    [' and however few may be at work by then', 2],
  ])(
    'go on over one that stands when the one that brings what is next breaks, however little memory there is%s',
    async (_, mostThen) => {
      let isTight = false;
      const memory: TransferMemory = { note: () => {}, isTight: () => isTight, leave: () => {} };
      origin.manners = {
        // The others are not through with their blocks when the first one breaks, and have to rest by then.
        bytesPerMs: ({ lane }) => (lane === 0 ? undefined : 64),
        breaksAfter: ({ lane }) => {
          isTight = true;
          return lane === 0 ? 16 * KIB : undefined;
        },
        answer: (_request, response, { lane }) => {
          if (lane !== 0 || !isTight) return false;
          response.writeHead(503, { 'content-length': 0 }).end();
          return true;
        },
      };
      const part = { startByte: 0, endByte: 512 * KIB };
      const mostLanes = () => (isTight ? mostThen : 4);
      const run = await lanes({ part, memory, mostLanes, config: { retrySeconds: 3600 } });
      expect(run.outcome).toBe('complete');
      expectBytes(run, part);
      const removed = run.events.filter(({ type }) => type === 'lane-removed');
      expect(removed).toMatchObject(mostThen === 4 || removed.length > 0 ? [{ lane: 0 }] : []);
    },
  );

  test('hold no more together than they may where an origin drips what is next, and leave room to other networks', async () => {
    const memory = new LaneMemory(8 * MIB);
    const ended = new AbortController();
    let mostBytes = 0;
    const drips = (request: IncomingMessage, response: ServerResponse) => {
      const { startByte, endByte } = origin.asked.at(-1) ?? WHOLE;
      if (request.headers.range === undefined || startByte > 1) return false;
      response.writeHead(206, {
        etag: '"one"',
        'content-range': `bytes ${startByte}-${endByte - 1}/${CONTENT.length}`,
        'content-length': endByte - startByte,
      });
      // What is asked for again is answered, too, and stands still at once.
      if (startByte === 0) response.write('x');
      else response.flushHeaders();
      return true;
    };
    origin.manners = { answer: drips };
    const dripping = Array.from({ length: 10 }, () =>
      lanes({ memory: memory.join('attacker'), left: ended.signal, config: { bufferBytes: 3 * MIB } }),
    );
    // Blocks that have been asked for come, and no others are asked for.
    await expect.poll(() => memory.heldBytes, { timeout: 10_000 }).toBeGreaterThan(4 * MIB);
    let lastBytes = 0;
    await expect
      .poll(
        () => {
          const isStill = memory.heldBytes === lastBytes;
          lastBytes = memory.heldBytes;
          mostBytes = Math.max(mostBytes, lastBytes);
          return isStill;
        },
        { interval: 300, timeout: 10_000 },
      )
      .toBe(true);
    expect(mostBytes).toBeLessThan(8 * MIB);
    const part = { startByte: MIB, endByte: 4 * MIB };
    const other = await lanes({ part, memory: memory.join('another') });
    expect(other.outcome).toBe('complete');
    expectBytes(other, part);
    ended.abort();
    const runs = await Promise.all(dripping);
    expect(runs.some(({ events }) => events.some(({ type }) => type === 'lanes-tight'))).toBe(true);
    expect(memory.heldBytes).toBe(0);
    await expect.poll(() => (origin.endAll(), origin.open)).toBe(0);
  });

  test('ask for no more than the buffer holds while the client rests, and take that for no silence', async () => {
    const { promise: rested, resolve: wake } = Promise.withResolvers<void>();
    origin.manners = { bytesPerMs: () => 50_000 };
    let isResting = false;
    const running = lanes({
      config: { bufferBytes: MIB, silenceSeconds: 0.5 },
      rests: (count) => {
        if (count !== 5) return undefined;
        isResting = true;
        setTimeout(wake, 1200);
        return rested;
      },
    });
    await rested;
    expect(isResting).toBe(true);
    const path = `/file-${downloads}`;
    const farthest = Math.max(
      ...origin.asked.filter((range) => range.path === path).map(({ endByte }) => endByte),
    );
    // By a thread some of it lies in the kernel, between it and the client.
    const betweenBytes = where === 'here' ? 0 : 4 * SOCKET_BYTES;
    expect(farthest).toBeLessThan(MIB + 512 * KIB + betweenBytes);
    const run = await running;
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(run.events.filter(({ type }) => type === 'lane-broke')).toEqual([]);
  });

  test('let the origin go when everything has come, however long the client rests', async () => {
    const { promise: rested, resolve: wake } = Promise.withResolvers<void>();
    const { promise: resting, resolve: rest } = Promise.withResolvers<void>();
    const part = { startByte: 0, endByte: 200 * KIB };
    const running = lanes({
      part,
      rests: (count) => {
        if (count > 1) return undefined;
        rest();
        return rested;
      },
    });
    await resting;
    await expect.poll(() => origin.open).toBe(0);
    wake();
    const run = await running;
    expect(run.outcome).toBe('complete');
    expectBytes(run, part);
  });

  test('close every connection when the client leaves, and when the depot stops', async () => {
    origin.manners = { bytesPerMs: () => 100 };
    for (const [key, outcome] of [
      ['left', 'client-left'],
      ['signal', 'cancelled'],
    ] as const) {
      const end = new AbortController();
      const onEvent = ({ type }: LaneEvent) => type === 'lane-opened' && end.abort();
      const run = await lanes({ [key]: end.signal, onEvent });
      expect(run.outcome).toBe(outcome);
      await expect.poll(() => origin.open).toBe(0);
    }
  });

  test('are never more than the origin is to bear, and one asks as a plain download does', async () => {
    const many = await lanes({ lanes: 30, config: { perOrigin: 3 } });
    expect(new Set(many.asked.map(({ lane }) => lane)).size).toBeLessThanOrEqual(3);
    const one = await lanes({ lanes: 1 });
    expectBytes(one, WHOLE);
    expect(one.asked).toMatchObject([WHOLE]);
  });

  test('go on with the block that was asked for to learn what there is', async () => {
    const first = { startByte: 0, endByte: 100 * KIB };
    const run = await lanes({ first });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(run.asked.filter(({ startByte }) => startByte === 0)).toHaveLength(1);
    expect(
      origin.asked.filter(({ lane, connection }) => lane === 0 && connection === run.asked[0]?.connection)
        .length,
    ).toBeGreaterThan(1);
  });

  const first = { startByte: 0, endByte: 100 * KIB };
  const usedLanes = ({ asked }: Run) => new Set(asked.map(({ lane }) => lane));

  test.runIf(how === 'ahead')('are one where one brings what the plan promises', async () => {
    origin.manners = { bytesPerMs: () => 4000 };
    const run = await lanes({ first, planned: clean(25e6) });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(usedLanes(run)).toEqual(new Set([0]));
  });

  test.runIf(how === 'ahead')('become all where one brings less than the plan promises', async () => {
    origin.manners = { bytesPerMs: () => 400 };
    const run = await lanes({ first, planned: clean(60e6) });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(usedLanes(run)).toEqual(new Set([0, 1, 2, 3]));
  });

  test.runIf(how === 'ahead')('become all when the one at work breaks', async () => {
    origin.manners = {
      bytesPerMs: () => 4000,
      breaksAfter: ({ lane }) => (lane === 0 ? 300_000 : undefined),
    };
    const run = await lanes({ first, planned: clean(25e6) });
    expect(run.outcome).toBe('complete');
    expectBytes(run, WHOLE);
    expect(usedLanes(run)).toEqual(new Set([0, 1, 2, 3]));
  });

  test.runIf(how === 'singly')('begin together where the origin has to be asked singly', async () => {
    origin.manners = { bytesPerMs: () => 4000 };
    const run = await lanes({ first, planned: clean(25e6) });
    expectBytes(run, WHOLE);
    expect(usedLanes(run)).toEqual(new Set([0, 1, 2, 3]));
  });
});
