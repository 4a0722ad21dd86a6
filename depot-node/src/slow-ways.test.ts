import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { unlikeBytes } from './testing/block-origin.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = unlikeBytes(6_000_000);
/** Lanes begin together: losses would hold back each of them. */
const LOSSY = { worstRttMs: 3000, worstLossRate: 2.5e-3 };
const VERSION = { ETag: '"1"', 'Accept-Ranges': 'bytes' };
/** Looks of the watch: one each second, three of them while the transfer starts. */
const SLOW_SECONDS = 3;
const LOOKS = 3 + SLOW_SECONDS;
const CHAINS = [
  ['d1', 'd2'],
  ['d1', 'd3'],
];

/** An answer that goes on when it is told to. */
interface HeldAnswer {
  readonly request: IncomingMessage;
  readonly give: (bytes: number) => void;
  /** Gives what it has of the file before this byte, where this one is in it. */
  readonly giveUpTo: (endByte: number, atByte: number) => void;
}

describe.each(await testPlanes())('with a relay of %s, a download', (_kind, splice) => {
  let overlay: TestOverlay;
  let held: HeldAnswer[];
  let givenBytes: number;
  let onHeld: () => void = () => undefined;
  let givesParts: boolean;
  /** What it answers to all questions behind the first. */
  let refusesBy: number | undefined;
  let refused: number;

  beforeAll(async () => {
    const config = {
      failover: { slowSeconds: SLOW_SECONDS, silenceSeconds: 60 },
      lanes: { silenceSeconds: 60, firstBlockBytes: 65_536, leastBlockBytes: 16_384 },
    };
    overlay = await startTestOverlay([], answerWhenTold, splice, { config });
    for (const id of ['d1', 'd2', 'd3', 'd4']) await overlay.addDepot(id);
  });
  afterAll(() => overlay.close());
  beforeEach(() => {
    held = [];
    givenBytes = 0;
    givesParts = true;
    refusesBy = undefined;
    refused = 0;
    overlay.depot('d1').events.length = 0;
    // The watch looks when the test says that a second has gone by; all else takes its own time.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function answerWhenTold(asked: IncomingMessage, answer: ServerResponse): void {
    if (refusesBy !== undefined && held.length > 0) {
      answer.writeHead(refusesBy, { 'Content-Length': 0 }).end();
      refused += 1;
      return;
    }
    const range = givesParts ? /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') : null;
    const end = Number(range?.[2] || FILE.length - 1) + 1;
    const start = Number(range?.[1] ?? 0);
    let at = start;
    const headers = { ...VERSION, 'Content-Length': end - at };
    const part = { 'Content-Range': `bytes ${at}-${end - 1}/${FILE.length}` };
    answer.writeHead(range ? 206 : 200, { ...headers, ...(range ? part : {}) });
    answer.flushHeaders();
    const give = (bytes: number) => {
      if (at === end) return;
      const next = Math.min(end, at + bytes);
      answer.write(FILE.subarray(at, next));
      givenBytes += next - at;
      at = next;
      if (at === end) answer.end();
    };
    const giveUpTo = (endByte: number, atByte: number) => {
      if (start <= atByte && atByte < end) give(Math.max(0, Math.min(end, endByte) - at));
    };
    held.push({ request: asked, give, giveUpTo });
    onHeld();
  }

  /** The origin's answers, once there are so many. */
  const answers = (count: number): Promise<HeldAnswer[]> =>
    new Promise((resolve) => {
      onHeld = () => {
        if (held.length >= count) resolve(held);
      };
      onHeld();
    });

  /** A download's connection that has got its head, and what it has read. */
  async function begin(url: string, range?: string) {
    const asked = request(url, { agent: false, headers: range === undefined ? {} : { range } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let bytes = 0;
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
    });
    const isRight = () => Buffer.concat(chunks).equals(FILE);
    return { ended: once(answer, 'end'), bytes: () => bytes, isRight };
  }

  /** Until the depot knows that each of its downloads has brought so much: the kernel tells now and then only. */
  async function haveCome(wanted: number): Promise<void> {
    const running = () => overlay.depot('d1').depot.downloads();
    while (running().some(({ client }) => client.bytes < wanted)) await setImmediate();
  }

  /**
   * Lets seconds go by until something is so: one at whose end the client's connection has bytes left to send
   * counts for no way.
   */
  async function secondsUntil(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      vi.advanceTimersByTime(1000);
      await setImmediate();
    }
  }

  const failovers = () => overlay.depot('d1').events.filter(({ type }) => type === 'failover');
  const transfer = () => overlay.depot('d1').events.find(({ type }) => type === 'transfer');
  const urlFor = (rateBps: number, lanes = 1, chains = CHAINS, path = '/file.bin') =>
    overlay.relayUrl(
      `${overlay.originUrl}${path}`,
      {
        chains,
        lanes,
        promises: chains.map(() => ({
          rateBps,
          ...(lanes > 1 ? LOSSY : { worstRttMs: 1, worstLossRate: 0 }),
        })),
      },
      'd1',
    );

  test('leaves a chain that stays far below its promise, and goes on at the next byte over another', async () => {
    const opened = begin(urlFor(80_000_000));
    const [first] = await answers(1);
    first?.give(1000);
    const client = await opened;
    await haveCome(1000);
    vi.advanceTimersByTime(LOOKS * 1000);
    const [, second] = await answers(2);
    expect(second?.request.headers.range).toBe(`bytes=1000-${FILE.length - 1}`);
    second?.give(FILE.length);
    await client.ended;
    expect(client.bytes()).toBe(FILE.length);
    expect(failovers()).toEqual([
      expect.objectContaining({ reason: 'slow', from: CHAINS[0], to: CHAINS[1], atByte: 1000 }),
    ]);
    await expect.poll(transfer).toMatchObject({
      chain: CHAINS[1],
      left: { chain: CHAINS[0], bytes: 1000, meanBps: 0, seconds: expect.any(Number) },
    });
  });

  test('keeps its chain where its address is signed: that may be good for no second question', async () => {
    const opened = begin(urlFor(80_000_000, 4, CHAINS, '/file.bin?Expires=1&Signature=a'));
    const [first] = await answers(1);
    first?.give(1000);
    const client = await opened;
    await haveCome(1000);
    vi.advanceTimersByTime(2 * LOOKS * 1000);
    first?.give(FILE.length);
    await client.ended;
    expect(client.bytes()).toBe(FILE.length);
    expect(failovers()).toEqual([]);
  });

  test.each([403, 429])(
    'keeps its chain where each further question is answered by %i, and loses nothing',
    async (status) => {
      refusesBy = status;
      const opened = begin(urlFor(80_000_000));
      const [first] = await answers(1);
      first?.give(1000);
      const client = await opened;
      await haveCome(1000);
      vi.advanceTimersByTime(LOOKS * 1000);
      // It comes while another way is asked for, or behind that.
      first?.give(1_000_000);
      await haveCome(1_001_000);
      expect(refused).toBe(1);
      vi.advanceTimersByTime(2 * LOOKS * 1000);
      first?.give(FILE.length);
      await client.ended;
      expect(client.isRight()).toBe(true);
      expect(refused).toBe(1);
      expect(failovers()).toEqual([]);
      await expect.poll(transfer).toMatchObject({ chain: CHAINS[0], left: undefined });
    },
  );

  test('in six parts at once keeps its chain while they bring together what it promises', async () => {
    const PARTS = 6;
    const partBytes = FILE.length / PARTS;
    const bytesEach = Math.floor(partBytes / (LOOKS + 4));
    const url = urlFor(bytesEach * 8 * PARTS);
    const opened = Array.from({ length: PARTS }, (_, part) =>
      begin(url, `bytes=${part * partBytes}-${(part + 1) * partBytes - 1}`),
    );
    const parts = await answers(PARTS);
    const giveAll = (bytes: number) => {
      for (const part of parts) part.give(bytes);
    };
    giveAll(bytesEach);
    const clients = await Promise.all(opened);
    for (let second = 1; second <= LOOKS + 2; second += 1) {
      await haveCome(second * bytesEach);
      vi.advanceTimersByTime(1000);
      giveAll(bytesEach);
    }
    giveAll(partBytes);
    await Promise.all(clients.map(({ ended }) => ended));
    expect(failovers()).toEqual([]);
  });

  describe('over lanes', () => {
    const LANES = 4;
    /** What is asked for ahead waits on its connection for what was asked for before. */
    const giveToAll = (bytes: number, from = 0) => {
      for (const one of held.slice(from)) one.give(bytes);
    };
    const giveRest = () => {
      onHeld = () => giveToAll(FILE.length);
      onHeld();
    };

    const lanes = () =>
      overlay
        .depot('d1')
        .depot.downloads()
        .flatMap((one) => one.lanes);
    async function allOver(chain: readonly string[] = []): Promise<void> {
      const areOver = () => lanes().filter((one) => one.chain?.join() === chain.join());
      while (areOver().length < LANES) await setImmediate();
    }

    /** A download all of whose lanes have asked for a block, and have got so many bytes of it. */
    async function beginLanes(rateBps: number, bytes: number, chains = CHAINS) {
      // An origin is known to give blocks by the folder.
      const opened = begin(urlFor(rateBps, LANES, chains, '/lanes/file.bin'));
      await answers(1);
      onHeld = () => giveToAll(bytes);
      onHeld();
      const client = await opened;
      while (lanes().filter(({ chain }) => chain !== undefined).length < LANES) await setImmediate();
      onHeld = () => undefined;
      return client;
    }

    test('leaves a chain that stays far below its promise with all of them, and has the rest over another', async () => {
      const client = await beginLanes(80_000_000, 1000);
      await secondsUntil(() => failovers().length === 1);
      giveRest();
      await client.ended;
      expect(client.isRight()).toBe(true);
      expect(failovers()).toEqual([
        expect.objectContaining({ reason: 'slow', from: CHAINS[0], to: CHAINS[1] }),
      ]);
      await expect
        .poll(transfer)
        .toMatchObject({ chain: CHAINS[1], outcome: 'complete', left: { chain: CHAINS[0] } });
    });

    test('stays where another chain brings no more: then the origin is slow', async () => {
      const client = await beginLanes(80_000_000, 1000, [...CHAINS, ['d1', 'd4']]);
      const bytes = () => overlay.depot('d1').depot.downloads()[0]?.client.bytes ?? 0;
      /** A second in which each lane brings so much, and the client has what is in front. */
      const aSecond = async () => {
        const before = bytes();
        giveToAll(2000);
        while (bytes() < before + 2000) await setImmediate();
        vi.advanceTimersByTime(1000);
        await setImmediate();
      };
      while (failovers().length === 0) await aSecond();
      await allOver(CHAINS[1]);
      for (let second = 1; second <= 3 * LOOKS; second += 1) await aSecond();
      giveRest();
      await client.ended;
      expect(client.isRight()).toBe(true);
      expect(failovers()).toHaveLength(1);
    });

    test('goes back where another chain brings far less than the one that it left', async () => {
      const client = await beginLanes(80_000_000, 1000);
      const bytes = () => overlay.depot('d1').depot.downloads()[0]?.client.bytes ?? 0;
      for (let second = 1; second <= LOOKS; second += 1) {
        giveToAll(2000);
        while (bytes() < 1000 + 2000 * second) await setImmediate();
        vi.advanceTimersByTime(1000);
      }
      await secondsUntil(() => failovers().length === 1);
      await allOver(CHAINS[1]);
      await secondsUntil(() => failovers().length === 2);
      giveRest();
      await client.ended;
      expect(client.isRight()).toBe(true);
      expect(failovers()).toMatchObject([
        { reason: 'slow', from: CHAINS[0], to: CHAINS[1] },
        { reason: 'slow', from: CHAINS[1], to: CHAINS[0] },
      ]);
    });

    test('keeps its chain while they bring together what it promises', async () => {
      const bytesEach = 300_000;
      const client = await beginLanes(bytesEach * 8, 1000);
      const bytes = () => overlay.depot('d1').depot.downloads()[0]?.client.bytes ?? 0;
      for (let second = 1; second <= LOOKS + 2; second += 1) {
        // The client may get what came ahead in seconds before: that alone keeps no promise.
        const enoughBytes = Math.min(givenBytes + bytesEach, FILE.length);
        const isKept = () => bytes() >= second * bytesEach && givenBytes >= enoughBytes;
        while (!isKept()) {
          for (const one of held) one.giveUpTo(second * bytesEach, bytes());
          // What comes next may be left to a lane that fetches something further on.
          giveToAll(100);
          await setImmediate();
        }
        vi.advanceTimersByTime(1000);
      }
      giveRest();
      await client.ended;
      expect(client.isRight()).toBe(true);
      expect(failovers()).toEqual([]);
    });
  });

  test('keeps its chain when the origin gives no parts for its lanes, and one connection brings its share', async () => {
    const bytesEach = 50_000;
    const lanes = 6;
    givesParts = false;
    const opened = begin(urlFor(bytesEach * 8 * lanes, lanes));
    const [asked] = await answers(1);
    expect(asked?.request.headers.range).toBeUndefined();
    asked?.give(bytesEach);
    const client = await opened;
    for (let second = 1; second <= LOOKS + 2; second += 1) {
      await haveCome(second * bytesEach);
      vi.advanceTimersByTime(1000);
      asked?.give(bytesEach);
    }
    asked?.give(FILE.length);
    await client.ended;
    expect(failovers()).toEqual([]);
  });
});
