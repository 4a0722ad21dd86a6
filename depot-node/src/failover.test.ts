import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Fault, FaultyOrigin } from './testing/faulty-origin.ts';
import { fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE_BYTES = 1_500_000;
/** Entry depots first: plain ones, and one for each setting that a test wants; then those that carry. */
const DEPOTS: Readonly<Record<string, object>> = {
  d1: {},
  impatient: { failover: { silenceSeconds: 0.3 } },
  // What else may be silent is so for less, on a busy machine, too.
  watchful: { failover: { silenceSeconds: 1.5, patienceSeconds: 30 } },
  hurried: { failover: { silenceSeconds: 1, patienceSeconds: 30 }, timeouts: { silenceSeconds: 1.2 } },
  'one-try': { failover: { silenceSeconds: 0.1, tries: 1 } },
  tries3: { failover: { tries: 3, repairSeconds: 20 } },
  'one-second': { failover: { repairSeconds: 1 } },
  digesting: { integrity: { digest: 'always' } },
  'by-range': { failover: { fetchAgain: 'never' } },
  m1: {},
  x1: {},
  m2: {},
  x2: {},
  d2: {},
  d3: {},
};
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let origin: FaultyOrigin;

  beforeAll(async () => {
    origin = new FaultyOrigin(FILE_BYTES);
    // Who is asked for the rest is asked once, however long his answer takes.
    const init = { standingPatienceMs: 60_000 };
    overlay = await startTestOverlay([], (asked, answer) => origin.listener(asked, answer), splice, init);
    // In this order, so that each knows those that call it.
    for (const [id, config] of Object.entries(DEPOTS)) await overlay.addDepot(id, config);
  });
  afterAll(() => overlay.close());
  beforeEach(() => {
    origin.begin();
    for (const id of Object.keys(DEPOTS)) overlay.depot(id).events.length = 0;
  });

  const fileUrl = () => `${overlay.originUrl}${origin.path}`;
  const download = (entry = 'd1', headers = {}, lanes = 1): Promise<RawAnswer> =>
    fetchRaw(
      overlay.relayUrl(
        fileUrl(),
        {
          chains: [
            [entry, 'd2'],
            [entry, 'd3'],
          ],
          lanes,
        },
        entry,
      ),
      { headers },
    );
  const eventsOf = (id: string, type: string) =>
    overlay.depot(id).events.filter((event) => event.type === type);
  const codesOf = (id: string) =>
    overlay.depot(id).events.flatMap((event) => (event.type === 'refusal' ? [event.code] : []));
  /** What arrived of a broken download is of the one version, from its start. */
  const expectPrefix = ({ body }: RawAnswer) =>
    expect(hash(body)).toBe(hash(origin.file.subarray(0, body.length)));

  describe('a transfer whose way breaks', () => {
    test('goes on at the exact next byte, wherever and however often it breaks', async () => {
      const fault = fc.record({
        how: fc.constantFrom('reset' as const, 'end' as const),
        at: fc.integer({ min: 0, max: FILE_BYTES - 1 }),
      });
      // A way over which nothing comes at all is used up with the others; those that bring something are not.
      const rising = fc
        .uniqueArray(fault, { minLength: 1, maxLength: 4, selector: ({ at }) => at })
        .map((faults) => faults.toSorted((one, other) => one.at - other.at));
      await fc.assert(
        fc.asyncProperty(rising, async (faults) => {
          origin.faults = [...faults];
          const answer = await download();
          expect(answer).toMatchObject({ status: 200, broken: undefined });
          expect(hash(answer.body)).toBe(hash(origin.file));
        }),
        { numRuns: 25 },
      );
    }, 60_000);

    test('goes on after silence, over another chain, and asks for nothing twice', async () => {
      const entry = 'watchful';
      origin.faults = [{ how: 'silence', at: 700_000 }];
      const answer = await download(entry);
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(origin.ranges).toEqual([undefined, `bytes=700000-${FILE_BYTES - 1}`]);
      expect(eventsOf(entry, 'failover')).toEqual([
        expect.objectContaining({
          reason: 'silent',
          from: [entry, 'd2'],
          to: [entry, 'd3'],
          atByte: 700_000,
        }),
      ]);
      await expect.poll(() => origin.silent.map(({ destroyed }) => destroyed)).toEqual([true]);
    });

    describe('of an origin that pauses', () => {
      const entry = 'watchful';
      const PAUSE: Fault = { how: 'pause', at: 700_000, ms: 500, behind: 'next-question' };
      const SILENCE: Fault = { how: 'silence', at: 700_000 };
      const refused = (status: number) =>
        Array.from({ length: 50 }, (): Fault => ({ how: 'refused', status }));
      const expectWhole = ({ broken, body }: RawAnswer) => {
        expect(broken).toBeUndefined();
        expect(hash(body)).toBe(hash(origin.file));
      };

      test.each([403, 410, 429])(
        'waits for it where each further question is answered by %i',
        async (status) => {
          origin.faults = [PAUSE, ...refused(status)];
          expectWhole(await download(entry));
          // Over no way is it asked twice.
          expect(origin.ranges.length).toBeGreaterThan(1);
          expect(origin.ranges.length).toBeLessThanOrEqual(4);
          expect(eventsOf(entry, 'failover')).toEqual([]);
        },
      );

      test('waits for it where it has refused the first block of a lane, too', async () => {
        origin.faults = [{ how: 'pause', at: 700_000, ms: 900 }, ...refused(403)];
        expectWhole(await download('impatient', {}, 4));
        expect(origin.ranges.slice(0, 2)).toEqual([undefined, expect.stringMatching(/^bytes=0-/)]);
        expect(eventsOf('impatient', 'failover')).toEqual([]);
      });

      test('is asked over each other way where it is busy over one, and left where another one brings the rest', async () => {
        origin.faults = [SILENCE, { how: 'refused', status: 503 }];
        expectWhole(await download(entry));
        expect(origin.ranges).toHaveLength(3);
        expect(eventsOf(entry, 'failover')).toMatchObject([{ reason: 'silent', atByte: 700_000 }]);
      });

      test('is left after a longer silence where it may count the connection that stands', async () => {
        origin.faults = [SILENCE, ...refused(503)];
        const answer = download('hurried');
        await expect.poll(() => origin.silent[0]?.destroyed).toBe(true);
        origin.faults = [];
        expectWhole(await answer);
        expect(eventsOf('hurried', 'failover')).toMatchObject([{ reason: 'silent', atByte: 700_000 }]);
      });

      test('keeps its way where bytes come over it before an answer over another one', async () => {
        origin.faults = [SILENCE, { how: 'unanswered' }];
        origin.onUnanswered = () => origin.silent[0]?.end(origin.file.subarray(700_000));
        expectWhole(await download(entry));
        expect(origin.ranges).toHaveLength(2);
        expect(eventsOf(entry, 'failover')).toEqual([]);
      });

      test('waits for it where it has no ranges, whatever it says: the whole is not worth a pause', async () => {
        origin.faults = [PAUSE];
        origin.onAnswer = () => {
          origin.ignoresRanges = true;
        };
        expectWhole(await download(entry));
        expect(origin.ranges.length).toBeGreaterThan(1);
        expect(eventsOf(entry, 'failover')).toEqual([]);
      });

      test('is repaired as any other where the way that it waits for breaks', async () => {
        origin.faults = [SILENCE, ...refused(403).slice(0, 3)];
        const answer = download(entry);
        await expect.poll(() => origin.ranges.length).toBe(4);
        origin.silent[0]?.socket?.resetAndDestroy();
        expectWhole(await answer);
        expect(eventsOf(entry, 'failover')).toMatchObject([{ reason: 'reset', atByte: 700_000 }]);
      });

      test('has each byte once, whichever way brings it first', async () => {
        const pause = fc.record({
          how: fc.constant('pause' as const),
          at: fc.integer({ min: 0, max: FILE_BYTES - 1 }),
          // About as long as a way may be silent; relay threads notice that later.
          ms: fc.integer({ min: 290, max: 560 }),
        });
        const more = fc.array(fc.oneof(pause, fc.constantFrom(...refused(404))), { maxLength: 5 });
        await fc.assert(
          fc.asyncProperty(pause, more, async (first, others) => {
            // What was asked for of the last one may still come.
            origin.begin();
            origin.faults = [first, ...others];
            const answer = await download('impatient');
            expect(answer.broken).toBeUndefined();
            expect(hash(answer.body)).toBe(hash(origin.file));
          }),
          { numRuns: 12 },
        );
      }, 60_000);
    });

    test('goes on within the part that the client asked for', async () => {
      origin.faults = [{ how: 'reset', at: 600_000 }];
      const answer = await download('d1', { range: 'bytes=200000-1199999' });
      expect(answer).toMatchObject({ status: 206, broken: undefined });
      expect(hash(answer.body)).toBe(hash(origin.file.subarray(200_000, 1_200_000)));
      expect(origin.ranges.at(-1)).toMatch(/^bytes=[0-9]+-1199999$/);
    });

    test('asks for the rest as its client asked for the file: another language is another file', async () => {
      const asks = { 'accept-language': 'fr', accept: 'application/pdf', 'user-agent': 'reader/1' };
      overlay.originRequests.length = 0;
      origin.faults = [{ how: 'reset', at: 600_000 }];
      expect(hash((await download('d1', asks)).body)).toBe(hash(origin.file));
      const asked = overlay.originRequests.filter(({ url }) => url === origin.path);
      expect(asked.map(({ headers }) => headers)).toMatchObject([asks, asks]);
    });

    test('goes on by the date of the last change, when that is old enough to be a strong validator', async () => {
      origin.validators = { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' };
      origin.faults = [{ how: 'reset', at: 300_000 }];
      expect(hash((await download()).body)).toBe(hash(origin.file));
    });

    test('keeps its chain when the client does not read for longer than a way may be silent', async () => {
      const entry = 'watchful';
      const chains = [
        [entry, 'd2'],
        [entry, 'd3'],
      ];
      const big = new FaultyOrigin(40_000_000);
      big.path = '/big.bin';
      const small = origin;
      const { listener } = small;
      const either: typeof listener = (asked, answer) =>
        (asked.url === big.path ? big.listener : listener)(asked, answer);
      Object.assign(small, { listener: either });
      try {
        const jobId = 'jobofbig';
        const url = overlay.relayUrl(`${overlay.originUrl}${big.path}`, { chains, jobId }, entry);
        const asked = request(url, { agent: false }).end();
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        await once(answer, 'readable');
        // Other downloads through the same depots tell when a silence is over: three of them, one after the other.
        for (const at of [100_000, 200_000, 300_000]) {
          small.faults = [{ how: 'silence', at }];
          expect((await download(entry)).broken).toBeUndefined();
        }
        expect(big.ranges).toHaveLength(1);
        const digest = createHash('sha256');
        for await (const chunk of answer) digest.update(chunk as Buffer);
        expect(digest.digest('hex')).toBe(hash(big.file));
        expect(big.ranges).toHaveLength(1);
        const failovers = eventsOf(entry, 'failover');
        expect(failovers).toHaveLength(3);
        expect(failovers).not.toContainEqual(expect.objectContaining({ jobId }));
      } finally {
        Object.assign(small, { listener });
      }
    });

    test('waits for a way that pauses, as any download, once there is no try left', async () => {
      const pause: Fault = { how: 'pause', at: 800_000, ms: 400 };
      origin.faults = [{ ...pause, at: 400_000, behind: 'next-question' }, pause];
      const answer = await download('one-try');
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(origin.ranges).toHaveLength(2);
    });

    test('ends with the depot that repairs it, and says so', async () => {
      const closing = await overlay.addDepot('closing');
      const busy: Fault = { how: 'busy' };
      origin.faults = [{ how: 'reset', at: 400_000 }, ...Array.from({ length: 50 }, () => busy)];
      const answer = download('closing');
      await expect.poll(() => origin.ranges.length).toBeGreaterThan(1);
      await closing.depot.close(0);
      expect((await answer).broken).toBe('ECONNRESET');
      expect(codesOf('closing')).toEqual(['shutting-down']);
    });

    test('outlives a time in which every way breaks as soon as it has answered', async () => {
      origin.faults = [{ how: 'reset', at: 400_000 }];
      const endMs = Date.now() + 1500;
      const { listener } = origin;
      let asked = 0;
      const sulking: typeof listener = (request, answer) => {
        asked += 1;
        if (asked > 1 && Date.now() < endMs) origin.faults = [{ how: 'reset', at: 0 }];
        listener(request, answer);
      };
      Object.assign(origin, { listener: sulking });
      const answer = await download();
      Object.assign(origin, { listener });
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
    });

    test('leaves an origin alone for as long as it asks, over each exit, and goes on then', async () => {
      origin.faults = [{ how: 'reset', at: 400_000 }, { how: 'busy' }, { how: 'busy' }, { how: 'busy' }];
      const answer = await download();
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(origin.ranges).toHaveLength(5);
      const [failover] = eventsOf('d1', 'failover');
      expect(failover?.type === 'failover' && failover.seconds).toBeGreaterThan(0.9);
    });

    test('goes on at once over another exit where an origin asks for patience of one, which others may have used up', async () => {
      const chains = [
        ['d1', 'd3'],
        ['d1', 'm1', 'x2'],
        ['d1', 'm2', 'x2'],
      ];
      origin.faults = [{ how: 'reset', at: 400_000 }, { how: 'busy-for-long' }];
      const answer = await fetchRaw(overlay.relayUrl(fileUrl(), { chains }, 'd1'));
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(origin.ranges).toHaveLength(3);
      expect(eventsOf('d1', 'failover')).toMatchObject([{ from: ['d1', 'd3'], to: ['d1'] }]);
    });

    test('is given up where an origin asks for more patience than there is over every exit', async () => {
      const busy: Fault = { how: 'busy-for-long' };
      origin.faults = [{ how: 'reset', at: 400_000 }, busy, busy, busy];
      expectPrefix(await download());
      expect(origin.ranges).toHaveLength(4);
      await expect.poll(() => codesOf('d1')).toEqual(['ways-used-up']);
    });

    test('waits for an origin that asks for patience longer than repairs take else', async () => {
      const busy: Fault = { how: 'busy' };
      origin.faults = [{ how: 'reset', at: 400_000 }, busy, busy, busy, busy, busy, busy];
      const answer = await download('one-second');
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(origin.ranges).toHaveLength(8);
    });

    test('is given up where an origin asks for a little patience again and again, for ten minutes in all', async () => {
      const busy: Fault = { how: 'busy' };
      origin.faults = [{ how: 'reset', at: 400_000 }, ...Array.from({ length: 30 }, () => busy)];
      const answer = download();
      await expect.poll(() => origin.ranges.length).toBe(7);
      overlay.advanceSeconds(600);
      expectPrefix(await answer);
      expect(origin.faults.length).toBeGreaterThan(20);
      await expect.poll(() => codesOf('d1')).toEqual(['ways-used-up']);
    });

    test('spends no tries on an origin that is waited for, over however many exits it asks for patience', async () => {
      const busy: Fault = { how: 'busy' };
      origin.faults = [{ how: 'reset', at: 400_000 }, busy, busy, busy, busy, busy, busy];
      const answer = await download('tries3');
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
    });

    test('goes on when one of the servers behind the name has another version', async () => {
      origin.faults = [{ how: 'reset', at: 500_000 }, { how: 'changed' }, { how: 'whole-instead' }];
      const answer = await download();
      expect(answer).toMatchObject({ status: 200, broken: undefined });
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(codesOf('d1')).toEqual([]);
    });

    test.each(['whole-instead', 'other-range', 'other-total'] as const)(
      'goes on by the whole of its version where the origin gives no right part: %s',
      async (how) => {
        origin.faults = [{ how: 'reset', at: 500_000 }, ...Array.from({ length: 50 }, () => ({ how }))];
        const answer = await download();
        expect(answer).toMatchObject({ status: 200, broken: undefined });
        expect(hash(answer.body)).toBe(hash(origin.file));
        expect(eventsOf('d1', 'failover')).toMatchObject([{ isAgain: true }]);
        expect(origin.ranges.length).toBeLessThanOrEqual(3);
      },
    );

    test('is given up after three answers of another version, whatever tries are left', async () => {
      const changed = Array.from({ length: 50 }, (): Fault => ({ how: 'changed' }));
      origin.faults = [{ how: 'reset', at: 500_000 }, ...changed];
      const answer = await download();
      expect(answer.broken).toBe('ECONNRESET');
      expectPrefix(answer);
      await expect.poll(() => codesOf('d1')).toEqual(['origin-changed']);
      expect(origin.ranges).toHaveLength(4);
    });

    test('is given up at once where the origin is still at work at the rest: it would work as long for each who asks', async () => {
      origin.faults = [
        { how: 'reset', at: 500_000 },
        ...Array.from({ length: 50 }, (): Fault => ({ how: 'at-work' })),
      ];
      const answer = await download();
      expect(answer.broken).toBe('ECONNRESET');
      expectPrefix(answer);
      await expect.poll(() => codesOf('d1')).toEqual(['origin-bad-answer']);
      expect(origin.ranges).toHaveLength(2);
    });

    test('goes on after more breaks than there are tries, where megabytes have come meanwhile', async () => {
      const entry = 'tries3';
      const big = new FaultyOrigin(26_000_000);
      big.path = origin.path;
      const { listener } = origin;
      Object.assign(origin, { listener: big.listener });
      big.faults = Array.from({ length: 10 }, (_, part) => ({ how: 'end', at: (part + 1) * 2_500_000 }));
      const answer = await download(entry);
      Object.assign(origin, { listener });
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(big.file));
      expect(eventsOf(entry, 'failover')).toHaveLength(10);
    });

    test('is given up after as many tries as the configuration allows', async () => {
      const entry = 'tries3';
      origin.faults = Array.from({ length: 100 }, (): Fault => ({ how: 'reset', at: 400_000 }));
      const answer = await download(entry);
      expect(answer.broken).toBe('ECONNRESET');
      expectPrefix(answer);
      await expect.poll(() => codesOf(entry)).toEqual(['ways-used-up']);
      expect(origin.ranges.length).toBeLessThanOrEqual(4);
    });
  });

  describe('a transfer that cannot be continued safely', () => {
    const liars: readonly Fault['how'][] = ['changed', 'unnamed', 'short-length', 'gone', 'garbage'];
    test.each(liars)('is reset, never joined with something else: %s', async (how) => {
      const entry = 'one-second';
      const lies = Array.from({ length: 50 }, () => ({ how }) as Fault);
      origin.faults = [{ how: 'reset', at: 500_000 }, ...lies];
      const answer = await download(entry);
      expect(answer.broken).toBe('ECONNRESET');
      expect(answer.body.length).toBeLessThan(FILE_BYTES);
      expectPrefix(answer);
      await expect.poll(() => codesOf(entry)[0]).toMatch(/^(origin-changed|ways-used-up)$/);
    });

    test.each([
      ['a weak validator', { ETag: 'W/"v1"' }],
      ['no validator', {}],
      [
        'a date that is too young to be strong',
        { 'Last-Modified': new Date(Date.now() + 1e6).toUTCString() },
      ],
      ['an origin without ranges', { ETag: '"v1"', 'Accept-Ranges': 'none' }],
    ])('is reset at once where nothing is fetched again: %s', async (_, validators) => {
      const entry = 'by-range';
      origin.validators = validators;
      origin.faults = [{ how: 'reset', at: 500_000 }];
      const answer = await download(entry);
      expect(answer.broken).toBe('ECONNRESET');
      expectPrefix(answer);
      expect(origin.ranges).toHaveLength(1);
      await expect.poll(() => codesOf(entry)).toEqual(['origin-not-resumable']);
      expect(eventsOf(entry, 'failover')).toMatchObject([{ reason: 'reset', to: undefined }]);
    });
  });

  describe('a depot that dies in the middle of a transfer', () => {
    test.each([
      ['middle', ['m1', 'x1'], 'm1'],
      ['exit', ['m2', 'x2'], 'x2'],
    ])('does not reach the client when it is the %s depot', async (_, others, dying) => {
      const chains = [
        ['d1', ...others],
        ['d1', 'd2'],
      ];
      origin.faults = [{ how: 'silence', at: 800_000 }];
      const url = overlay.relayUrl(fileUrl(), { chains }, 'd1');
      const asked = request(url, { agent: false }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const digest = createHash('sha256');
      answer.on('data', (chunk: Buffer) => digest.update(chunk));
      await expect.poll(() => origin.silent.length).toBeGreaterThan(0);
      await Promise.all([overlay.depot(dying).depot.close(0), once(answer, 'end')]);
      expect(digest.digest('hex')).toBe(hash(origin.file));
      expect(eventsOf('d1', 'failover')).toMatchObject([{ to: ['d1', 'd2'] }]);
    });
  });

  describe('the digest of a whole file', () => {
    const sha256 = () => createHash('sha256').update(origin.file).digest('base64');

    test('is reported with the job, also when the file came over several ways', async () => {
      const entry = 'digesting';
      origin.faults = [{ how: 'reset', at: 900_000 }];
      expect((await download(entry)).broken).toBeUndefined();
      await expect.poll(() => eventsOf(entry, 'transfer')).toMatchObject([{ sha256: hash(origin.file) }]);
    });

    test('is checked also where the last byte comes after a pause, and nothing else can be asked for', async () => {
      const entry = 'watchful';
      origin.validators = { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Repr-Digest': `sha-256=:${sha256()}:` };
      const refused = Array.from({ length: 50 }, (): Fault => ({ how: 'refused', status: 403 }));
      origin.faults = [{ how: 'pause', at: FILE_BYTES - 1, ms: 500, behind: 'next-question' }, ...refused];
      const answer = await download(entry);
      expect(answer.broken).toBeUndefined();
      expect(hash(answer.body)).toBe(hash(origin.file));
      expect(eventsOf(entry, 'failover')).toEqual([]);
    });

    test.each([
      ['Digest', () => `sha-256=${hash(origin.file)}`],
      ['Content-MD5', () => createHash('md5').update(origin.file).digest('hex')],
      ['Repr-Digest', () => 'sha-256=:AAAA:'],
    ])('is not compared with what cannot be one, as one %s', async (name, stated) => {
      origin.validators = { ETag: '"v1"', [name]: stated() };
      expect(await download()).toMatchObject({ status: 200, broken: undefined });
    });

    test.each([
      ['Repr-Digest', () => `sha-256=:${sha256()}:`],
      ['Content-Digest', () => `sha-512=:${createHash('sha512').update(origin.file).digest('base64')}:`],
      ['Digest', () => `SHA-256=${sha256()}`],
      ['Content-MD5', () => createHash('md5').update(origin.file).digest('base64')],
    ])('that the origin states as %s is checked before the file is complete', async (name, right) => {
      origin.validators = { ETag: '"v1"', [name]: right() };
      expect(await download()).toMatchObject({ broken: undefined });
      const wrong = right().replace(
        /[A-Za-z0-9+/]{20,}/,
        (text) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`,
      );
      origin.validators = { ETag: '"v1"', [name]: wrong };
      const answer = await download();
      expect(answer.broken).toBe('ECONNRESET');
      expect(answer.body.length).toBeLessThan(FILE_BYTES);
      await expect.poll(() => codesOf('d1')).toContain('origin-digest-wrong');
    });

    describe.each([1, 4])('that differs, over %i lanes,', (lanes) => {
      const chains = [
        ['d1', 'd2'],
        ['d1', 'd3'],
      ];
      const newAddress = () => overlay.relayUrl(fileUrl(), { chains, lanes }, 'd1');
      const state = (digest: string, etag = '"v1"') => {
        origin.validators = { ETag: etag, 'Accept-Ranges': 'bytes', 'Repr-Digest': `sha-256=:${digest}:` };
      };
      const another = createHash('sha256').update('another file').digest('base64');
      /** Where a client comes back to, and what for. */
      const beginWrong = async () => {
        state(another);
        const address = newAddress();
        const { body, broken } = await fetchRaw(address);
        expect(broken).toBe('ECONNRESET');
        expect(body.length).toBeLessThan(FILE_BYTES);
        return { address, range: `bytes=${body.length}-` };
      };

      test('is remembered: nobody makes a wrong file complete by coming back for the rest, be it by another ticket', async () => {
        const { address, range } = await beginWrong();
        origin.ranges.length = 0;
        for (const at of [address, newAddress()])
          for (const version of [[], ['if-range'], ['if-match']]) {
            const named = Object.fromEntries(version.map((name) => [name, '"v1"']));
            const refused = await fetchRaw(at, { headers: { range, ...named } });
            expect(refused).toMatchObject({
              status: 503,
              headers: { [HEADERS.error]: 'origin-digest-wrong' },
            });
            // Programs that wait as they are told would come back for ever.
            expect(refused.headers['retry-after']).toBeUndefined();
          }
        expect(origin.ranges).toEqual([]);
      });

      test('keeps nobody from beginning again, and is checked then however all of the file is asked for', async () => {
        const { address, range } = await beginWrong();
        for (const headers of [
          {},
          { range: 'bytes=0-' },
          { range: 'bytes=0-', 'if-range': '"v1"' },
          { range: 'bytes=00-' },
          { range: `bytes=0-${FILE_BYTES - 1}` },
        ] as Record<string, string>[]) {
          state(another);
          expect((await fetchRaw(address, { headers })).broken).toBe('ECONNRESET');
          state(sha256());
          const again = await fetchRaw(address, { headers });
          expect(again).toMatchObject({ status: 200, broken: undefined });
          expect(hash(again.body)).toBe(hash(origin.file));
        }
        // What is on disk of the wrong one has not become right by that.
        expect((await fetchRaw(address, { headers: { range } })).status).toBe(503);
      });

      test('is held against no other version: who has begun again may lose his connection, and goes on', async () => {
        const { address, range } = await beginWrong();
        state(sha256(), '"v2"');
        const asked = request(address, { agent: false }).end();
        const [begun] = (await once(asked, 'response')) as [IncomingMessage];
        expect(begun.statusCode).toBe(200);
        begun.destroy();
        for (const at of [address, newAddress()]) {
          for (const name of ['if-range', 'if-match']) {
            const resume = (tag: string) => fetchRaw(at, { headers: { range, [name]: tag } });
            expect((await resume('"v2"')).status).toBe(206);
            expect((await resume('"v1"')).status).toBe(503);
          }
          // What he has then may be of either.
          expect((await fetchRaw(at, { headers: { range } })).status).toBe(503);
        }
      });

      test('is forgotten for who names no version, as players do, when he has had all of another one', async () => {
        const { address, range } = await beginWrong();
        state(sha256(), '"v2"');
        expect(await fetchRaw(address)).toMatchObject({ status: 200, broken: undefined });
        expect((await fetchRaw(address, { headers: { range } })).status).toBe(206);
        expect((await fetchRaw(address, { headers: { range, 'if-match': '"v1"' } })).status).toBe(503);
      });

      test('is held against nobody else', async () => {
        const { range } = await beginWrong();
        const other = await fetchRaw(newAddress(), { headers: { range }, localAddress: '127.0.0.2' });
        expect(other.status).toBe(206);
      });
    });
  });

  describe('an address that has worked', () => {
    test.each(['gone', 'garbage'] as const)('answers a resume with 503 and a time: %s', async (how) => {
      const url = overlay.relayUrl(fileUrl(), { chains: [['d1', 'd2']] }, 'd1');
      expect((await fetchRaw(url)).status).toBe(200);
      origin.faults = [{ how }, { how }, { how }];
      const answer = await fetchRaw(url, { headers: { range: 'bytes=1000-', 'if-range': '"v1"' } });
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': expect.stringMatching(/^[0-9]+$/) },
      });
      expect((await fetchRaw(url, { headers: { range: 'bytes=1000-' } })).status).not.toBe(404);
    });
  });
});
