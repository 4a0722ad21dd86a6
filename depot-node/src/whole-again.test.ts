import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FaultyOrigin } from './testing/faulty-origin.ts';
import { fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE_BYTES = 1_500_000;
const FIRST_BYTES = 900_000;
/** Entry depots, one for each setting that a test wants; then those that carry. */
const DEPOTS: Readonly<Record<string, object>> = {
  d1: {},
  never: { failover: { fetchAgain: 'never' } },
  always: { failover: { fetchAgain: 'always' } },
  little: { failover: { againBytes: FIRST_BYTES - 1 } },
  once: { failover: { againTotalBytes: FIRST_BYTES } },
  twice: { failover: { againTries: 2 } },
  hasty: { timeouts: { silenceSeconds: 0.2 } },
  impatient: { failover: { silenceSeconds: 0.2 } },
  // What else may be silent is so for less, on a busy machine, too.
  watchful: { failover: { silenceSeconds: 1.5, patienceSeconds: 30 } },
  waits: { timeouts: { silenceSeconds: 0.2 }, failover: { fetchAgain: 'never' } },
  d2: {},
  d3: {},
};
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const other = (name: string, headers: Record<string, string | undefined>) => ({ name, headers });

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let origin: FaultyOrigin;

  beforeAll(async () => {
    origin = new FaultyOrigin(FILE_BYTES);
    // Who is asked for the rest is asked once, however long his answer takes.
    const init = { standingPatienceMs: 60_000 };
    overlay = await startTestOverlay([], (asked, answer) => origin.listener(asked, answer), splice, init);
    for (const [id, config] of Object.entries(DEPOTS)) await overlay.addDepot(id, config);
  });
  afterAll(() => overlay.close());
  beforeEach(() => {
    origin.begin();
    // What nothing tells from another version, and what no part can be asked for of.
    origin.validators = {};
    origin.ignoresRanges = true;
    for (const id of Object.keys(DEPOTS)) overlay.depot(id).events.length = 0;
  });

  const download = (entry = 'd1', headers = {}, claims = {}): Promise<RawAnswer> => {
    const chains = [
      [entry, 'd2'],
      [entry, 'd3'],
    ];
    return fetchRaw(overlay.relayUrl(`${overlay.originUrl}${origin.path}`, { chains, ...claims }, entry), {
      headers,
    });
  };
  const codesOf = (id: string) =>
    overlay.depot(id).events.flatMap((event) => (event.type === 'refusal' ? [event.code] : []));
  const failoversOf = (id: string) => overlay.depot(id).events.filter(({ type }) => type === 'failover');
  const expectWhole = ({ status, broken, body }: RawAnswer) => {
    expect({ status, broken, bytes: body.length }).toEqual({
      status: 200,
      broken: undefined,
      bytes: FILE_BYTES,
    });
    expect(hash(body)).toBe(hash(origin.file));
  };
  /** What arrived is of one version, from its start, and does not look whole. */
  const expectCut = ({ broken, body }: RawAnswer, file = origin.file) => {
    expect(broken).toBeDefined();
    expect(hash(body)).toBe(hash(file.subarray(0, body.length)));
  };

  describe('a download whose way breaks, of a file that no part can be asked for of,', () => {
    test.each([
      ['without a validator', 'length', {}],
      ['of a weak validator', 'length', { ETag: 'W/"v1"', 'Accept-Ranges': 'bytes' }],
      ['of an origin that has no ranges', 'length', { ETag: '"v1"', 'Accept-Ranges': 'none' }],
      ['in chunks', 'chunks', { ETag: '"v1"' }],
      [
        'whose date is too young to be strong',
        'length',
        { 'Last-Modified': new Date(Date.now() + 1e6).toUTCString() },
      ],
      [
        'of an origin that says nothing of ranges and has none',
        'length',
        { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' },
      ],
    ] as const)(
      'goes on over another way where the bytes before are the same: %s',
      async (_, framing, head) => {
        origin.validators = head;
        origin.framing = framing;
        origin.faults = [{ how: 'reset', at: FIRST_BYTES }];
        expectWhole(await download());
        expect(failoversOf('d1')).toMatchObject([{ reason: 'reset', from: ['d1', 'd2'], to: ['d1', 'd3'] }]);
        expect(origin.ranges.length).toBe(2);
      },
    );

    test('goes on without length or chunks, from this depot alone, since an end through a tunnel proves nothing', async () => {
      origin.framing = 'connection';
      // What gives such bodies is asked from this depot alone afterwards, whatever is tested then.
      origin.path = `/unframed${origin.path}`;
      origin.faults = [undefined, { how: 'reset', at: FIRST_BYTES }];
      expectWhole(await download());
      expect(failoversOf('d1')).toMatchObject([{ from: ['d1'], to: ['d1'] }]);
    });

    test('goes on from this depot alone where only the answer that comes again ends with its connection', async () => {
      origin.framing = 'chunks';
      origin.faults = [{ how: 'reset', at: FIRST_BYTES }];
      origin.onAnswer = () => {
        origin.framing = 'connection';
      };
      expectWhole(await download());
      expect(failoversOf('d1')).toMatchObject([{ from: ['d1', 'd2'], to: ['d1'] }]);
    });

    test('goes on through other depots behind an error whose page ends with its connection', async () => {
      origin.framing = 'chunks';
      origin.faults = [{ how: 'reset', at: FIRST_BYTES }, { how: 'busy-without-length' }];
      const chains = ['d2', 'd3', 'once'].map((exit) => ['d1', exit]);
      expectWhole(await download('d1', {}, { chains }));
      expect(failoversOf('d1')).toMatchObject([{ from: ['d1', 'd2'], to: ['d1', 'once'] }]);
    });

    test('goes on wherever and however often it breaks, also among bytes that come again', async () => {
      const at = fc.integer({ min: 0, max: FILE_BYTES - 1 });
      const framings = fc.constantFrom('length' as const, 'chunks' as const);
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(at, { minLength: 1, maxLength: 3 }),
          framings,
          async (places, framing) => {
            origin.framing = framing;
            origin.faults = places.map((place) => ({ how: 'reset', at: place }));
            const answer = await download();
            expect(answer.broken).toBeUndefined();
            expectWhole(answer);
          },
        ),
        { numRuns: 15 },
      );
    }, 60_000);

    test('is given up where nothing new comes four times in a row: this origin breaks off by itself', async () => {
      origin.faults = Array.from({ length: 10 }, () => ({ how: 'end', at: FIRST_BYTES }) as const);
      expectCut(await download());
      await expect.poll(() => codesOf('d1')).toEqual(['origin-not-resumable']);
      expect(origin.ranges.length).toBe(5);
    });

    test('goes on within the part that the client asked for', async () => {
      origin.ignoresRanges = false;
      origin.validators = { ETag: 'W/"v1"' };
      origin.faults = [{ how: 'reset', at: 1_000_000 }];
      const { status, broken, body } = await download('d1', { range: 'bytes=200000-1299999' });
      expect({ status, broken }).toEqual({ status: 206, broken: undefined });
      expect(hash(body)).toBe(hash(origin.file.subarray(200_000, 1_300_000)));
    });

    test.each(['whole-instead', 'other-range'] as const)(
      'goes on where ranges are refused at the break, and a digest was kept: %s',
      async (how) => {
        origin.ignoresRanges = false;
        origin.validators = { ETag: '"v1"' };
        origin.faults = [{ how: 'reset', at: FIRST_BYTES }, { how }];
        expectWhole(await download());
        expect(failoversOf('d1')).toMatchObject([{ isAgain: true }]);
      },
    );

    test('counts what comes again against its ticket', async () => {
      origin.faults = [{ how: 'end', at: FIRST_BYTES }];
      expectCut(await download('d1', {}, { budgetBytes: FILE_BYTES + FIRST_BYTES / 2 }));
      await expect.poll(() => codesOf('d1')).toEqual(['budget-used-up']);
    });
  });

  describe('an origin that pauses within a file that no part can be asked for of', () => {
    const PAUSE = { how: 'pause', at: FIRST_BYTES, ms: 700 } as const;

    test.each([
      ['before the first byte', 'chunks', 0],
      ['in the middle', 'chunks', FIRST_BYTES],
      ['in the middle, of stated length', 'length', FIRST_BYTES],
    ] as const)(
      'is waited for: who asks again has it made again, perhaps of other bytes: %s',
      async (_, framing, at) => {
        origin.framing = framing;
        origin.faults = [{ ...PAUSE, at }];
        expectWhole(await download('hasty'));
        expect(origin.ranges).toHaveLength(1);
        expect(failoversOf('hasty')).toEqual([]);
      },
    );

    test('is left as soon as its way breaks', async () => {
      origin.faults = [{ how: 'silence', at: FIRST_BYTES }];
      const answer = download('hasty');
      await expect.poll(() => origin.silent.length).toBe(1);
      origin.silent[0]?.socket?.resetAndDestroy();
      expectWhole(await answer);
      expect(failoversOf('hasty')).toMatchObject([{ reason: 'reset', isAgain: true }]);
    });

    test('is not asked for a second part where the whole came for the first one', async () => {
      origin.validators = { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' };
      origin.faults = [{ ...PAUSE, ms: 1500 }];
      expectWhole(await download('hasty'));
      expect(origin.ranges).toEqual([undefined, expect.stringMatching(/^bytes=/)]);
      expect(failoversOf('hasty')).toEqual([]);
    });

    test('is waited for where it has not shown that it gives parts: asked for one it would begin again', async () => {
      origin.validators = { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' };
      origin.faults = [PAUSE];
      expectWhole(await download('impatient'));
      expect(origin.ranges).toHaveLength(1);
      expect(failoversOf('impatient')).toEqual([]);
    });

    test('is left at once where a part has proved that it gives them, though it does not say so', async () => {
      origin.validators = { ETag: '"v1"' };
      origin.ignoresRanges = false;
      origin.faults = [
        { how: 'reset', at: 300_000 },
        { how: 'silence', at: FIRST_BYTES },
      ];
      expectWhole(await download('watchful'));
      expect(origin.ranges).toHaveLength(3);
      expect(origin.ranges.at(-1)).toBe(`bytes=${FIRST_BYTES}-${FILE_BYTES - 1}`);
      expect(failoversOf('watchful')).toMatchObject([{ reason: 'reset' }, { reason: 'silent' }]);
    });

    test('is waited for as clients do where the whole may not come again', async () => {
      origin.faults = [PAUSE];
      expectWhole(await download('waits'));
      expect(origin.ranges).toHaveLength(1);
    });
  });

  describe('a download of a file that is another one by now', () => {
    test.each([0, FIRST_BYTES - 1])(
      'is reset, where byte %i of those before is another: never a byte of both',
      async (at) => {
        const before = Buffer.from(origin.file);
        origin.faults = [{ how: 'end', at: FIRST_BYTES }];
        const { listener } = origin;
        let asked = 0;
        Object.assign(origin, {
          listener: (...both: Parameters<typeof listener>) => {
            asked += 1;
            if (asked === 2) origin.file[at] = (origin.file[at] ?? 0) ^ 1;
            listener(...both);
          },
        });
        const answer = await download();
        Object.assign(origin, { listener });
        expectCut(answer, before);
        expect(answer.body.length).toBeLessThanOrEqual(FIRST_BYTES);
        await expect.poll(() => codesOf('d1')).toEqual(['origin-changed']);
        // Servers behind one name may differ: it is not given up at the first.
        expect(asked).toBe(4);
      },
    );

    test.each([
      other('tag', { ETag: 'W/"v2"' }),
      other('type', { ETag: 'W/"v1"', 'Content-Type': 'text/html' }),
      other('coding', { ETag: 'W/"v1"', 'Content-Encoding': 'gzip' }),
    ])('is reset by its head alone: another $name', async ({ headers }) => {
      origin.validators = { ETag: 'W/"v1"' };
      origin.faults = [{ how: 'end', at: FIRST_BYTES }];
      const { listener } = origin;
      Object.assign(origin, {
        listener: (...both: Parameters<typeof listener>) => {
          listener(...both);
          origin.validators = headers;
        },
      });
      const answer = await download();
      Object.assign(origin, { listener });
      expectCut(answer);
      await expect.poll(() => codesOf('d1')).toEqual(['origin-changed']);
    });

    test('is reset where it is shorter than what the client has', async () => {
      origin.framing = 'chunks';
      origin.faults = [{ how: 'end', at: FIRST_BYTES }];
      const short = Array.from({ length: 10 }, () => ({ how: 'cut-off', at: FIRST_BYTES / 2 }) as const);
      origin.faults.push(...short);
      expectCut(await download());
      await expect.poll(() => codesOf('d1')).toEqual(['origin-changed']);
    });
  });

  describe('what is fetched again', () => {
    test.each([
      ['never', 'nothing where the operator wants none of it', 1],
      ['little', 'nothing of a download that is further than that', 1],
      ['once', 'no more than that in one download', 2],
      ['twice', 'no more often than that in vain', 3],
    ])('is bounded by the configuration of %s: %s', async (entry, _, requests) => {
      const break_ = { how: 'end', at: FIRST_BYTES } as const;
      origin.faults = [break_, break_, break_, break_];
      expectCut(await download(entry));
      await expect.poll(() => codesOf(entry)).toEqual(['origin-not-resumable']);
      expect(origin.ranges.length).toBe(requests);
    });

    test('is tried also where each server has a validator of its own, when the operator wants that', async () => {
      origin.ignoresRanges = false;
      const date = 'Tue, 01 Jan 2019 00:00:00 GMT';
      let asked = 0;
      const { listener } = origin;
      Object.assign(origin, {
        listener: (...both: Parameters<typeof listener>) => {
          asked += 1;
          origin.validators = { ETag: `"node${asked}"`, 'Last-Modified': date, 'Accept-Ranges': 'bytes' };
          listener(...both);
        },
      });
      origin.faults = [{ how: 'end', at: FIRST_BYTES }];
      const answer = await download('always');
      origin.faults = [{ how: 'end', at: FIRST_BYTES }];
      const without = await download('d1');
      Object.assign(origin, { listener });
      expect([answer.broken, without.broken]).toEqual([undefined, 'ECONNRESET']);
      expectWhole(answer);
      expectCut(without);
    });
  });
});
