import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FaultyOrigin } from './testing/faulty-origin.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE_BYTES = 3_000_000;
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const lanes = { firstBlockBytes: 65_536, leastBlockBytes: 16_384, silenceSeconds: 0.5 };
const DEPOTS: Readonly<Record<string, object>> = {
  d1: { lanes, integrity: { digest: 'always' } },
  plain: { lanes: { ...lanes, control: 'plain' }, integrity: { digest: 'always' } },
  blocks: { lanes: { ...lanes, leastBlockBytes: 65_536 } },
  few: { lanes: { ...lanes, perOrigin: 4, total: 12 } },
  // A pause of a busy machine is no broken lane.
  patient: { lanes: { ...lanes, silenceSeconds: 30 } },
  'm-changed': { lanes, integrity: { digest: 'always' } },
  'm-unnamed': { lanes, integrity: { digest: 'always' } },
  d2: {},
  d3: {},
};

let overlay: TestOverlay;
let origin: FaultyOrigin;

const openConnections = () => overlay.originOpenConnections();
const fileUrl = () => `${overlay.originUrl}${origin.path}`;
const download = (entry = 'd1', headers: Record<string, string> = {}, method = 'GET', claims = {}) => {
  const chains = [[entry, 'd2'], [entry, 'd3'], [entry]];
  return fetchRaw(overlay.relayUrl(fileUrl(), { chains, lanes: 4, ...claims }, entry), { headers, method });
};
const eventsOf = (id: string, type: string) =>
  overlay.depot(id).events.filter((event) => event.type === type);

describe.each(await testPlanes())('a download whose plan has lanes, over %s,', (_plane, splice) => {
  beforeAll(async () => {
    origin = new FaultyOrigin(FILE_BYTES);
    overlay = await startTestOverlay([], (asked, answer) => origin.listener(asked, answer), splice);
    // In this order, so that each knows those that call it.
    for (const [id, config] of Object.entries(DEPOTS)) await overlay.addDepot(id, config);
  });
  afterAll(async () => {
    await overlay.close();
    await splice?.close();
  });
  beforeEach(() => {
    origin.begin();
    for (const id of Object.keys(DEPOTS)) overlay.depot(id).events.length = 0;
  });

  test.each(['d1', 'plain'])('comes whole, in blocks, with the head of the file: %s', async (entry) => {
    const answer = await download(entry);
    expect(answer).toMatchObject({
      status: 200,
      broken: undefined,
      headers: { 'content-length': String(FILE_BYTES), etag: '"v1"', 'accept-ranges': 'bytes' },
    });
    expect(answer.headers['content-range']).toBeUndefined();
    expect(hash(answer.body)).toBe(hash(origin.file));
    expect(origin.ranges.length).toBeGreaterThan(4);
    const forAll = origin.ranges.filter((range) => range === undefined);
    expect(forAll.length, 'asked for the whole until it is known to give blocks').toBeLessThanOrEqual(1);
    origin.ranges.length = 0;
    expect(hash((await download(entry)).body)).toBe(hash(origin.file));
    expect(origin.ranges.every((range) => range !== undefined)).toBe(true);
    await expect
      .poll(() => eventsOf(entry, 'transfer').slice(0, 1))
      .toMatchObject([{ outcome: 'complete', sha256: hash(origin.file) }]);
  });

  test('has as many connections to the origin as lanes: that of the first answer is the first of them', async () => {
    // Once its origin is known to give blocks.
    await download('patient');
    await expect.poll(openConnections).toBe(0);
    overlay.depot('patient').events.length = 0;
    const before = overlay.originConnections();
    await download('patient');
    const opened = overlay.originConnections() - before;
    // Who loses a block that another lane was asked for as well loses its connection, too.
    const lost = ['block-asked-again', 'lane-broke', 'lane-removed'].flatMap((type) =>
      eventsOf('patient', type),
    ).length;
    expect(opened).toBeGreaterThanOrEqual(4);
    expect(opened - lost).toBeLessThanOrEqual(4);
  });

  test('keeps its chain where the origin closes after each answer, however many connections its blocks take', async () => {
    origin.validators = { ...origin.validators, Connection: 'close' };
    const before = overlay.originConnections();
    const answer = await download('blocks', {}, 'GET', { budgetConnections: 12 });
    expect(hash(answer.body)).toBe(hash(origin.file));
    expect(overlay.originConnections() - before).toBeGreaterThan(12);
    expect(eventsOf('blocks', 'chain-failed')).toEqual([]);
    expect(eventsOf('d2', 'refusal')).toEqual([]);
  });

  test('has one where one brings what the plan promises', async () => {
    // Once its origin is known to give blocks.
    await download('patient');
    await expect.poll(openConnections).toBe(0);
    const before = overlay.originConnections();
    const promises = [1, 2, 3].map(() => ({ rateBps: 1e6, worstRttMs: 20, worstLossRate: 0 }));
    const answer = await download('patient', {}, 'GET', { promises });
    expect(hash(answer.body)).toBe(hash(origin.file));
    expect(overlay.originConnections() - before).toBe(1);
  });

  test('comes whole however often and wherever its ways break', async () => {
    const fault = fc.option(
      fc.record({
        how: fc.constantFrom('reset' as const, 'end' as const),
        at: fc.integer({ min: 0, max: FILE_BYTES - 1 }),
      }),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 8 }), async (faults) => {
        origin.faults = [...faults];
        const answer = await download();
        expect(answer.broken).toBeUndefined();
        expect(hash(answer.body)).toBe(hash(origin.file));
      }),
      { numRuns: 25 },
    );
  });

  test('asks for each part as its client asked for the file: an origin may have it in several languages', async () => {
    const asks = { 'accept-language': 'fr', accept: 'application/pdf', 'user-agent': 'reader/1' };
    overlay.originRequests.length = 0;
    expect(hash((await download('d1', asks)).body)).toBe(hash(origin.file));
    const asked = overlay.originRequests.filter(({ url }) => url === origin.path);
    expect(asked.length).toBeGreaterThan(4);
    for (const { headers } of asked) expect(headers).toMatchObject(asks);
  });

  test('goes on when a client resumes, from its byte to the end', async () => {
    const answer = await download('d1', { range: 'bytes=1234567-', 'if-range': '"v1"' });
    expect(answer).toMatchObject({
      status: 206,
      headers: { 'content-range': `bytes 1234567-${FILE_BYTES - 1}/${FILE_BYTES}` },
    });
    expect(hash(answer.body)).toBe(hash(origin.file.subarray(1_234_567)));
  });

  test('says that it takes ranges where the origin proves it and says it with whole files alone', async () => {
    origin.validators = { ETag: '"v1"' };
    const answer = await download();
    expect(hash(answer.body)).toBe(hash(origin.file));
    expect(answer.headers['accept-ranges']).toBe('bytes');
  });

  test('is one connection where the client asks for parts itself, or for the head alone', async () => {
    const part = await download('d1', { range: 'bytes=0-999999' });
    expect(hash(part.body)).toBe(hash(origin.file.subarray(0, 1_000_000)));
    const head = await download('d1', {}, 'HEAD');
    expect(head.headers['content-length']).toBe(String(FILE_BYTES));
    expect(origin.ranges).toEqual(['bytes=0-999999', undefined]);
  });

  test('takes places for the lanes that it has, and gives them back however it ends', async () => {
    const big = new FaultyOrigin(40_000_000);
    const { listener } = origin;
    await expect.poll(openConnections, { timeout: 10_000 }).toBe(0);
    big.path = '/big.bin';
    Object.assign(origin, { listener: big.listener });
    try {
      for (let turn = 0; turn < 4; turn += 1) {
        // A plan may have more lanes than a depot gives to one origin.
        const asked = [1, 2].map(() => {
          const url = overlay.relayUrl(
            `${overlay.originUrl}/big.bin`,
            { lanes: 8, chains: [['few']] },
            'few',
          );
          return request(url, { agent: false })
            .on('error', () => {})
            .end();
        });
        // Nobody reads, so that all lanes are open and wait.
        await Promise.all(asked.map((one) => once(one, 'response')));
        await expect.poll(openConnections).toBe(8);
        for (const one of asked) one.destroy();
        await expect.poll(openConnections).toBe(0);
      }
      expect(eventsOf('few', 'lanes-fewer')).toEqual([]);
    } finally {
      Object.assign(origin, { listener });
    }
  });

  test('leaves room for the connections that the client opens itself', async () => {
    const big = new FaultyOrigin(40_000_000);
    const { listener } = origin;
    const held: ServerResponse[] = [];
    const PARTS = 5;
    const parts: ClientRequest[] = [];
    const either: typeof listener = (asked, answer) => {
      const isOwnPart = asked.headers.range === 'bytes=0-99999';
      if (!isOwnPart) big.listener(asked, answer);
      else {
        answer.writeHead(206, {
          ETag: '"v1"',
          'Content-Length': 100_000,
          'Content-Range': 'bytes 0-99999/40000000',
        });
        answer.write('begun');
        held.push(answer);
      }
    };
    await expect.poll(openConnections, { timeout: 10_000 }).toBe(0);
    big.path = '/big.bin';
    Object.assign(origin, { listener: either });
    try {
      const chains = [['d1', 'd2']];
      const url = overlay.relayUrl(`${overlay.originUrl}/big.bin`, { chains, lanes: 8 }, 'd1');
      const open = openConnections;
      // A client that does not read: all lanes are open, and wait.
      const asked = request(url, { agent: false }).on('error', () => {});
      parts.push(asked.end());
      const [whole] = (await once(asked, 'response')) as [IncomingMessage];
      await expect.poll(open, { timeout: 10_000 }).toBe(8);
      for (let part = 0; part < PARTS; part += 1)
        parts.push(request(url, { agent: false, headers: { range: 'bytes=0-99999' } }).end());
      for (const part of parts.slice(1))
        part.on('error', () => {}).on('response', (answer) => answer.on('error', () => {}).resume());
      await expect.poll(() => held.length).toBe(PARTS);
      let bytes = 0;
      let most = 0;
      whole.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      const ended = once(
        whole.on('error', () => {}),
        'end',
      );
      // Lanes whose blocks were under way bring them; then five connections are the client's, and three are left.
      await expect.poll(open).toBeLessThanOrEqual(8);
      for (let look = 0; look < 50; look += 1) {
        await once(whole, 'data');
        const now = await open();
        most = Math.max(most, now);
        if (now <= 8) continue;
        // Over a chain the end of one connection may come after the beginning of the next; while nobody
        // reads, none begins.
        whole.pause();
        await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(8);
        whole.resume();
      }
      // Of each of the three lanes that are left, one that has ended and one that has begun.
      expect(most).toBeLessThanOrEqual(PARTS + 2 * 3);
      await ended;
      expect(bytes).toBe(big.file.length);
    } finally {
      for (const part of parts) part.destroy();
      Object.assign(origin, { listener });
    }
  });

  test('goes on over lanes where its client comes back before anybody has heard that its connection is lost', async () => {
    const big = new FaultyOrigin(40_000_000);
    const { listener } = origin;
    await expect.poll(openConnections, { timeout: 10_000 }).toBe(0);
    big.path = '/big.bin';
    Object.assign(origin, { listener: big.listener });
    const url = overlay.relayUrl(`${overlay.originUrl}/big.bin`, { chains: [['d1', 'd2']], lanes: 4 }, 'd1');
    const lost: ClientRequest[] = [];
    /** Reads so many bytes from there on, and then nothing more of them. */
    const readAndStop = async (fromByte: number, bytes: number) => {
      const headers = fromByte > 0 ? { range: `bytes=${fromByte}-`, 'if-range': '"v1"' } : {};
      const asked = request(url, { agent: false, headers }).on('error', () => {});
      lost.push(asked.end());
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.on('error', () => {});
      await new Promise<void>((resolve) => {
        let missing = bytes;
        answer.on('data', (chunk: Buffer) => {
          missing -= chunk.length;
          if (missing > 0) return;
          answer.pause();
          resolve();
        });
      });
      // What goes past a depot's main thread is told of now and then.
      const { depot } = overlay.depot('d1');
      const given = () => Math.max(...depot.downloads().map(({ nextByte }) => nextByte));
      await expect.poll(given).toBeGreaterThanOrEqual(fromByte + bytes);
    };
    const goOn = (fromByte: number) =>
      fetchRaw(url, { headers: { range: `bytes=${fromByte}-`, 'if-range': '"v1"' } });
    const asksForBlock = (fromByte: number) =>
      big.ranges.some((range) => new RegExp(`^bytes=${fromByte}-[0-9]+$`).test(range ?? ''));
    try {
      await readAndStop(0, 200_000);
      expect((await goOn(39_900_000)).body.length).toBe(100_000);
      expect(asksForBlock(39_900_000), 'a part that nobody has been given yet').toBe(false);
      await readAndStop(200_000, 15_000_000);
      expect(asksForBlock(200_000)).toBe(true);
      const { body } = await goOn(15_200_000);
      expect(hash(body)).toBe(hash(big.file.subarray(15_200_000)));
      expect(asksForBlock(15_200_000), 'behind all that the first has been given').toBe(true);
    } finally {
      for (const one of lost) one.destroy();
      Object.assign(origin, { listener });
    }
  });

  test.each([
    ['no validator', {}],
    ['a weak validator', { ETag: 'W/"v1"' }],
    ['no ranges', { ETag: '"v1"', 'Accept-Ranges': 'none' }],
  ])('is one connection where the origin has %s', async (_, validators) => {
    origin.validators = validators;
    const answer = await download();
    expect(answer).toMatchObject({ status: 200, broken: undefined });
    expect(hash(answer.body)).toBe(hash(origin.file));
    expect(origin.ranges.at(-1)).toBeUndefined();
  });

  test('is one connection where the origin answers with the whole file anyway', async () => {
    origin.faults = [{ how: 'whole-instead' }];
    expect(hash((await download()).body)).toBe(hash(origin.file));
    expect(origin.ranges).toHaveLength(1);
  });

  test.each(['changed', 'whole-instead', 'other-total'] as const)(
    'comes whole when one of its connections leads to another version: %s',
    async (how) => {
      origin.faults = [undefined, undefined, undefined, { how }];
      const answer = await download();
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
    },
  );

  test.each(['changed', 'unnamed'] as const)(
    'is reset when the file has become another one: %s',
    async (how) => {
      // Depots of their own: they ask that origin for no more blocks from then on.
      const entry = `m-${how}`;
      origin.faults = [undefined, undefined, undefined, ...Array.from({ length: 20 }, () => ({ how }))];
      const answer = await download(entry);
      expect(answer.broken).toBe('ECONNRESET');
      expect(answer.body.length).toBeLessThan(FILE_BYTES);
      expect(hash(answer.body)).toBe(hash(origin.file.subarray(0, answer.body.length)));
      await expect.poll(() => eventsOf(entry, 'refusal')).toMatchObject([{ code: 'origin-changed' }]);
      origin.begin();
      const again = await download(entry);
      expect(hash(again.body)).toBe(hash(origin.file));
      expect(origin.ranges, 'asked for at once').toEqual([undefined]);
    },
  );

  test.each(['other-range', 'short-length', 'unnamed', 'gone', 'garbage'] as const)(
    'is never made of anything but the right bytes: %s',
    async (how) => {
      origin.faults = [undefined, undefined, { how }, { how }];
      const { body, broken } = await download();
      expect(hash(body)).toBe(hash(origin.file.subarray(0, body.length)));
      expect(body.length === FILE_BYTES).toBe(broken === undefined);
    },
  );
});
