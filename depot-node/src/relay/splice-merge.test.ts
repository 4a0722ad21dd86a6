import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { unlikeBytes } from '../testing/block-origin.ts';
import type { AnswerReader } from './answer-reader.ts';
import {
  HeldCount,
  type HeldCounters,
  LEAST_HELD_BYTES,
  LEAST_READ_BYTES,
  newCounter,
} from './held-count.ts';
import { FURTHER_PIECE_BYTES } from './merge-pieces.ts';
import { type Received, receive, socketPair } from './promises/socket-pair.ts';
import { countDescriptors } from './promises/suite-connections.ts';
import { tlsPair } from './promises/tls-pair.ts';
import type { BodyMerge, MergeOptions } from './relay-plane.ts';
import { openSplicePlane, type SplicePlane } from './splice-plane.ts';

const FILE = unlikeBytes(2_000_000);
const HEAD = 'HTTP/1.1 206 Partial Content\r\n\r\n';
const NEVER = new AbortController().signal;

const opened = await openSplicePlane({ threads: 2 });
const plane = opened.ok ? opened.plane : undefined;
const tls = plane && 'accept' in plane.tls ? plane.tls : undefined;
afterAll(() => plane?.close());

type MakePair = () => Promise<[Socket, Socket]>;
const plain: MakePair = socketPair;
const secureClient: MakePair = () => (tls ? tlsPair(tls, 'server') : plain());
const secureOrigin: MakePair = () => (tls ? tlsPair(tls, 'client') : plain());
const PAIRS: readonly (readonly [string, MakePair, MakePair])[] = [
  ['plain', plain, plain],
  ...(tls
    ? ([
        ['with TLS towards the client', secureClient, plain],
        ['with TLS towards the origin', plain, secureOrigin],
        ['with TLS on both sides', secureClient, secureOrigin],
      ] as const)
    : []),
];

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Lane {
  /** What answers; the test writes to it. */
  readonly origin: Socket;
  readonly reader: AnswerReader;
  /** The heads that have come. */
  readonly heads: string[];
  readonly ended: Promise<void>;
  /** What was told to have come of bodies. */
  readonly movedBytes: () => number;
  /** Whether it is stopped by others than who answers. */
  readonly isStopped: () => boolean;
  /** Sends this part as an answer, and has it put where it belongs. */
  readonly bring: (startByte: number, endByte: number, comesToByte?: number) => Promise<void>;
}

async function open(
  makeClient: MakePair,
  makeOrigin: MakePair,
  {
    said,
    by = plane,
    ...options
  }: Partial<MergeOptions> & { readonly said?: string; readonly by?: SplicePlane | undefined } = {},
) {
  if (!by) throw new Error('no thread');
  const [client, sink] = await makeClient();
  sockets.push(client, sink);
  if (said !== undefined) sink.write(said);
  let onOver: (end: string) => void = () => {};
  const over = new Promise<string>((resolve) => {
    onOver = resolve;
  });
  const merge = await by.merge(sink, {
    startByte: 0,
    endByte: FILE.length,
    backBytes: 0,
    stallMs: 60_000,
    signal: NEVER,
    onChange: () => {},
    onLast: () => {},
    onOver,
    ...options,
  });
  if (!merge) throw new Error('no thread takes it');
  const lane = async () => {
    const pair = await makeOrigin();
    sockets.push(...pair);
    return readFrom(merge, ...pair);
  };
  return { client, sink, merge, over, lane };
}

async function readFrom(merge: BodyMerge, origin: Socket, below: Socket): Promise<Lane> {
  origin.on('error', () => {});
  below.on('error', () => {});
  const heads: string[] = [];
  const places: (readonly [startByte: number, endByte: number])[] = [];
  const waiting: (() => void)[] = [];
  const ended = Promise.withResolvers<void>();
  let isStopped = false;
  let movedBytes = 0;
  const onMoved = (bytes: number) => {
    movedBytes += bytes;
  };
  const reader = await merge.readAnswers(below, Buffer.alloc(0), true, {
    onCame: () => {},
    onStopped: (isNow) => {
      isStopped = isNow;
    },
    onEnd: ended.resolve,
    onHead: (bytes) => {
      heads.push(bytes.toString('latin1'));
      const [startByte, endByte] = places.shift() ?? [0, 0];
      const order = { startByte, sizeBytes: endByte - startByte, onChunk: () => {}, onMoved };
      queueMicrotask(() => reader?.readBody(order));
      return bytes.length;
    },
    onWhole: () => waiting.shift()?.(),
  });
  if (!reader) throw new Error('it cannot be read there');
  return {
    origin,
    reader,
    heads,
    ended: ended.promise,
    movedBytes: () => movedBytes,
    isStopped: () => isStopped,
    bring: (startByte, endByte, comesToByte = endByte) => {
      places.push([startByte, endByte]);
      origin.write(HEAD);
      origin.write(FILE.subarray(startByte, comesToByte));
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

const bytesOf = async (received: Received, bytes = FILE.length) =>
  (await received.until(bytes)).equals(FILE.subarray(0, bytes));

/** Counters of one transfer, and what changes what others of its network hold. */
function countHeld(capacityBytes: number) {
  const held: HeldCounters = { all: newCounter(), network: newCounter(), own: newCounter(), capacityBytes };
  const others = new HeldCount({ ...held, own: newCounter() });
  return {
    held,
    heldBytes: () => Atomics.load(new Int32Array(held.own), 0),
    othersHold: (changeBytes: number) => others.note(changeBytes),
  };
}

function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(newCounter()), 0, 0, ms);
}

describe.skipIf(!plane).each(PAIRS)('a relay thread merges a file, %s,', (_, makeClient, makeOrigin) => {
  test('in order, whoever brings which part of it when', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.nat(FILE.length), { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.nat()),
      async (cuts, lanes, picks) => {
        const { client, over, lane } = await open(makeClient, makeOrigin);
        const received = receive(client);
        const readers = await Promise.all(Array.from({ length: lanes }, lane));
        const edges = [...new Set([0, ...cuts, FILE.length])].toSorted((one, other) => one - other);
        const parts = edges.slice(1).map((endByte, index) => [edges[index] ?? 0, endByte] as const);
        // One that waits for its turn holds up those behind it: the next is always with somebody who is free for it.
        const shares = readers.map(() => [] as (readonly [number, number])[]);
        for (const part of parts) shares[(picks.next().value ?? 0) % lanes]?.push(part);
        for (const [index, share] of shares.entries())
          for (const [startByte, endByte] of share) void readers[index]?.bring(startByte, endByte);
        expect(await over).toBe('complete');
        expect(await bytesOf(received)).toBe(true);
        expect(readers.flatMap(({ heads }) => heads).every((head) => head === HEAD)).toBe(true);
        for (const { reader } of readers) reader.leave();
      },
    );
    await fc.assert(property, { numRuns: 12 });
  });

  test('behind what was written just before it, which does not wait for the first byte', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { client, over, lane } = await open(makeClient, makeOrigin, { said: 'the head' });
      const received = receive(client);
      expect((await received.until(8)).toString()).toBe('the head');
      const { bring, reader } = await lane();
      void bring(0, FILE.length);
      expect(await over).toBe('complete');
      expect((await received.until(8 + FILE.length)).subarray(8).equals(FILE)).toBe(true);
      reader.leave();
    }
  });

  test('and tells all that a connection has brought before it tells that it has ended', async () => {
    for (const startByte of [0, 500_000]) {
      const { client, merge, lane } = await open(makeClient, makeOrigin);
      client.resume();
      const { origin, bring, ended, movedBytes } = await lane();
      void bring(startByte, startByte + 400_000, startByte + 300_000);
      origin.end();
      await ended;
      expect(movedBytes()).toBe(300_000);
      await merge.close();
    }
  });

  test('each byte once, though two bring the same part, and this thread a third', async () => {
    const { client, merge, over, lane } = await open(makeClient, makeOrigin);
    const received = receive(client);
    const [one, other] = await Promise.all([lane(), lane()]);
    void one.bring(100_000, 1_500_000);
    void other.bring(0, 700_000).then(() => other.bring(600_000, FILE.length));
    merge.put(50_000, FILE.subarray(50_000, 300_000));
    expect(await over).toBe('complete');
    expect(await bytesOf(received)).toBe(true);
    for (const { reader } of [one, other]) reader.leave();
  });

  test('and reads nothing ahead that would be more than may be held, whatever the event loop does meanwhile', async () => {
    const { held, heldBytes, othersHold } = countHeld(2_000_000);
    const { client, merge, over, lane } = await open(makeClient, makeOrigin, { held });
    const received = receive(client);
    const [ahead, next] = await Promise.all([lane(), lane()]);
    // So much of its own network as it leaves free is a half of all that there is.
    merge.put(1_900_000, FILE.subarray(1_900_000));
    void ahead.bring(200_000, 1_900_000);
    await expect.poll(heldBytes, { timeout: 10_000 }).toBeGreaterThan(1_000_000);
    const stepBytes = FURTHER_PIECE_BYTES;
    for (let look = 0; look < 20; look += 1) {
      expect(heldBytes()).toBeLessThanOrEqual(1_000_000 + stepBytes);
      blockEventLoop(10);
    }
    // What others hold counts as well, and when they give it back it goes on.
    othersHold(900_000);
    void next.bring(0, 200_000);
    await expect.poll(() => merge.headByte, { timeout: 10_000 }).toBeGreaterThanOrEqual(200_000);
    othersHold(-900_000);
    expect(await over).toBe('complete');
    expect(await bytesOf(received)).toBe(true);
    expect(heldBytes()).toBe(0);
    for (const { reader } of [ahead, next]) reader.leave();
  });

  test('and reads little more than the least ahead where others hold all the rest', async () => {
    const { held, heldBytes, othersHold } = countHeld(2_000_000);
    othersHold(1_900_000);
    const { client, merge, over, lane } = await open(makeClient, makeOrigin, { held });
    const received = receive(client);
    const [ahead, next] = await Promise.all([lane(), lane()]);
    merge.put(1_850_000, FILE.subarray(1_850_000));
    void ahead.bring(200_000, 1_850_000);
    await expect.poll(heldBytes, { timeout: 10_000 }).toBeGreaterThan(LEAST_HELD_BYTES);
    for (let look = 0; look < 20; look += 1) {
      expect(heldBytes()).toBeLessThanOrEqual(LEAST_HELD_BYTES + LEAST_READ_BYTES);
      blockEventLoop(10);
    }
    void next.bring(0, 200_000);
    othersHold(-1_900_000);
    expect(await over).toBe('complete');
    expect(await bytesOf(received)).toBe(true);
    expect(heldBytes()).toBe(0);
    for (const { reader } of [ahead, next]) reader.leave();
  });

  test('and gives the sink back at an exact byte when it is to end', async () => {
    const { client, sink, merge, over, lane } = await open(makeClient, makeOrigin);
    const received = receive(client);
    const { bring, reader } = await lane();
    const whole = bring(0, 300_000);
    merge.put(400_000, FILE.subarray(400_000, 500_000));
    await whole;
    reader.leave();
    await merge.close();
    expect(await over).toBe('cancelled');
    expect(merge.headByte).toBe(300_000);
    expect(merge.heldBytes).toBe(0);
    sink.write(FILE.subarray(merge.headByte));
    expect(await bytesOf(received)).toBe(true);
  });

  test('while the client reads nothing, with no more than it is given, and goes on when it reads', async () => {
    const { client, merge, over, lane } = await open(makeClient, makeOrigin);
    client.pause();
    const lanes = await Promise.all([lane(), lane()]);
    for (const [index, { bring }] of lanes.entries())
      for (let at = index * 100_000; at < FILE.length; at += 200_000) void bring(at, at + 100_000);
    await expect.poll(() => merge.headByte).toBeGreaterThan(0);
    expect(await bytesOf(receive(client))).toBe(true);
    expect(await over).toBe('complete');
    for (const { reader } of lanes) reader.leave();
  });

  test('and tells of a connection that ends or breaks, of which all bytes count that came before', async () => {
    const { client, merge, lane } = await open(makeClient, makeOrigin);
    const received = receive(client);
    const { origin, bring, ended } = await lane();
    void bring(0, 200_000);
    origin.end();
    await ended;
    await expect.poll(() => merge.headByte).toBe(200_000);
    const second = await lane();
    void second.bring(200_000, 400_000);
    await expect.poll(() => merge.headByte).toBeGreaterThan(200_000);
    second.origin.destroy();
    await second.ended;
    const third = await lane();
    void third.bring(200_000, 400_000);
    expect(await bytesOf(received, 400_000)).toBe(true);
    third.reader.leave();
    await merge.close();
  });

  test('and leaves no descriptor behind, whenever who leaves', async () => {
    const before = countDescriptors();
    const property = fc.asyncProperty(
      fc.constantFrom('client', 'origin', 'merge', 'lane', 'all'),
      fc.nat(6),
      fc.nat(FILE.length),
      async (who, turns, cut) => {
        const { client, sink, merge, over, lane } = await open(makeClient, makeOrigin);
        client.on('error', () => {}).resume();
        sink.on('error', () => {});
        const lanes = await Promise.all([lane(), lane(), lane()]);
        void lanes[0]?.bring(0, cut);
        void lanes[1]?.bring(cut, FILE.length);
        for (let turn = 0; turn < turns; turn += 1) await nextTurn();
        if (who === 'client' || who === 'all') client.resetAndDestroy();
        if (who === 'origin' || who === 'all') for (const { origin } of lanes) origin.destroy();
        if (who === 'lane' || who === 'all') lanes[1]?.reader.leave();
        if (who === 'merge') void merge.close();
        if (who === 'origin' || who === 'lane') await merge.close();
        await over;
        for (const { reader } of lanes) reader.leave();
        for (const socket of sockets.splice(0)) socket.destroy();
      },
    );
    await fc.assert(property, { numRuns: 40 });
    await expect.poll(countDescriptors, { timeout: 10_000 }).toBeLessThanOrEqual(before + 8);
  });
});

describe.skipIf(!plane)('a relay thread that merges a file', () => {
  test('digests it in order, and leaves its last bytes to whoever wants to see them', async () => {
    const digest = plane?.openDigest('sha256');
    let last: Buffer = Buffer.alloc(0);
    const { client, over, lane } = await open(plain, plain, {
      backBytes: 1,
      onLast: (bytes) => {
        last = bytes;
      },
      watcher: { digest, tagKey: undefined, onTags: () => {} },
    });
    const received = receive(client);
    const [one, other] = await Promise.all([lane(), lane()]);
    void other.bring(900_000, FILE.length);
    void one.bring(0, 900_000);
    expect(await over).toBe('complete');
    expect(last).toEqual(FILE.subarray(-1));
    expect(await bytesOf(received, FILE.length - 1)).toBe(true);
    digest?.add(last);
    const made = await digest?.finish();
    expect(Buffer.from(made ?? []).equals(createHash('sha256').update(FILE).digest())).toBe(true);
    for (const { reader } of [one, other]) reader.leave();
  });

  test.runIf(tls)(
    'leaves what TLS has yet to send to nobody else, whoever needs memory meanwhile',
    async () => {
      const own = await openSplicePlane({ threads: 1 });
      const ending = own.ok && 'accept' in own.plane.tls ? own.plane.tls : undefined;
      if (!own.ok || !ending) throw new Error('no thread ends TLS');
      const by = own.plane;
      onTestFinished(() => by.close());
      // More than the kernel takes on its way.
      const big = Buffer.concat(Array.from({ length: 16 }, () => FILE));
      /**
       * A merge that is ended while the client has left some of its bytes unread, and none but the last byte
       * was in memory behind these.
       */
      const blockedAtLast = async () => {
        let endByte = big.length;
        for (let round = 0; round < 20; round += 1) {
          const { client, sink, merge, over } = await open(() => tlsPair(ending, 'server'), plain, {
            by,
            endByte,
            backBytes: 1,
          });
          client.on('error', () => {}).pause();
          sink.on('error', () => {});
          merge.put(0, big.subarray(0, endByte));
          let end: string | undefined;
          void over.then((how) => {
            end = how;
          });
          await expect.poll(() => end ?? merge.isBlocked, { interval: 5 }).toBeTruthy();
          await merge.close();
          if ((await over) === 'complete') endByte += FURTHER_PIECE_BYTES;
          else if (merge.headByte === endByte - 1) return { client, bytes: merge.headByte };
          // It ends with the piece that the client left.
          else endByte = merge.headByte;
          client.destroy();
        }
        throw new Error('no client leaves the last piece unread');
      };
      // Memory is kept while there are merges.
      const other = await open(plain, plain, { by });
      const { client, bytes } = await blockedAtLast();
      other.merge.put(1, Buffer.alloc(FILE.length - 1, 'o'));
      await expect.poll(() => other.merge.heldBytes).toBe(FILE.length - 1);
      expect((await receive(client).until(bytes)).equals(big.subarray(0, bytes))).toBe(true);
      await other.merge.close();
    },
  );

  test('tells of a connection that only the client holds up, also when its turn comes while the client rests', async () => {
    const big = Buffer.alloc(16_000_000);
    const { client, merge, lane } = await open(plain, plain, { endByte: 2 * big.length });
    client.pause();
    const [one, other] = await Promise.all([lane(), lane()]);
    void one.bring(0, big.length);
    one.origin.write(big);
    await expect.poll(one.isStopped).toBe(true);
    // What is before it comes from elsewhere, and waits in memory.
    merge.put(0, big);
    void other.bring(big.length, 2 * big.length);
    other.origin.write(big);
    await expect.poll(other.isStopped).toBe(true);
    for (const { reader } of [one, other]) reader.leave();
    await merge.close();
  });

  test('tells no more that the client holds a connection up once it has taken all that came', async () => {
    const big = Buffer.alloc(16_000_000);
    const { client, merge, lane } = await open(plain, plain, { endByte: big.length });
    client.pause();
    const { origin, bring, reader, isStopped, movedBytes } = await lane();
    void bring(0, big.length, 0);
    let sentBytes = 0;
    let readBytes = 0;
    client.on('data', (chunk) => {
      readBytes += chunk.length;
    });
    client.pause();
    // No more than keeps its last bytes waiting for the client.
    while (!isStopped()) {
      origin.write(big.subarray(sentBytes, sentBytes + 100_000));
      sentBytes += 100_000;
      await expect.poll(() => isStopped() || movedBytes() === sentBytes, { interval: 5 }).toBe(true);
    }
    client.resume();
    await expect.poll(() => readBytes).toBe(sentBytes);
    await expect.poll(isStopped).toBe(false);
    reader.leave();
    await merge.close();
  });

  test('tells of a whole body together with the head behind it, where that is there', async () => {
    const { client, merge, lane } = await open(plain, plain);
    client.resume();
    const { origin, bring, heads, reader } = await lane();
    reader.pause();
    const whole = bring(0, 50_000);
    void bring(50_000, 100_000);
    await new Promise((written) => origin.write('', written));
    reader.resume();
    await whole;
    expect(heads).toEqual([HEAD, HEAD]);
    reader.leave();
    await merge.close();
  });

  test('tells how far it is every two milliseconds at most, however fast it is', async () => {
    const big = Buffer.alloc(64_000_000);
    let told = 0;
    const onChange = () => {
      told += 1;
    };
    const begunMs = performance.now();
    const { client, over, lane } = await open(plain, plain, { endByte: big.length, onChange });
    client.resume();
    const { origin, bring, reader } = await lane();
    void bring(0, big.length, 0);
    origin.write(big);
    expect(await over).toBe('complete');
    // And with the head, and at the end.
    expect(told).toBeLessThanOrEqual((performance.now() - begunMs) / 2 + 3);
    reader.leave();
  });

  test('gives up a client that reads nothing for too long', async () => {
    // More than the kernel takes on its way.
    const big = Buffer.alloc(32_000_000);
    const { client, over, lane } = await open(plain, plain, { stallMs: 300, endByte: big.length });
    client.pause();
    const { origin, bring, reader } = await lane();
    void bring(0, big.length);
    origin.write(big);
    expect(await over).toBe('sink-broke');
    reader.leave();
  });

  test('ends with it', async () => {
    const own = await openSplicePlane({ threads: 1 });
    if (!own.ok) throw new Error(own.reason);
    const [client, sink] = await plain();
    sockets.push(client, sink);
    const received = receive(client);
    const over = Promise.withResolvers<string>();
    const merge = await own.plane.merge(sink, {
      startByte: 0,
      endByte: FILE.length,
      backBytes: 0,
      stallMs: 60_000,
      signal: NEVER,
      onChange: () => {},
      onLast: () => {},
      onOver: over.resolve,
    });
    merge?.put(0, FILE.subarray(0, 1000));
    await received.until(1000);
    await own.plane.close();
    expect(await over.promise).not.toBe('complete');
  });
});
