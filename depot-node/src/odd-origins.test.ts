import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = randomBytes(700_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const DATE = 'Tue, 01 Jan 2019 00:00:00 GMT';

const oddOrigin = fc.record({
  framing: fc.constantFrom('length', 'chunks', 'both'),
  /** What it says of ranges, and what it does when it is asked for one. */
  says: fc.constantFrom('bytes', 'none', undefined),
  ranges: fc.constantFrom('right', 'whole', 'now and then', 'other range'),
  tag: fc.constantFrom('strong', 'weak', 'of its node', undefined),
  isDated: fc.boolean(),
  keepsConnections: fc.boolean(),
  /** Where the connection of the first answers ends, and how. */
  breaks: fc.array(fc.nat(FILE.length), { maxLength: 2 }),
  how: fc.constantFrom('reset', 'end'),
});
type OddOrigin = typeof oddOrigin extends fc.Arbitrary<infer One> ? One : never;

/** Behind one name: several servers with the same file. */
function listenerOf(origin: OddOrigin): RequestListener {
  let asked = 0;
  return (request) => {
    asked += 1;
    const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(request.headers.range ?? '') ?? [];
    const wants = first !== undefined && origin.says !== 'none';
    const gives = origin.ranges === 'now and then' ? asked % 2 === 0 : origin.ranges !== 'whole';
    const tags = { strong: '"v1"', weak: 'W/"v1"', 'of its node': `"node${asked % 3}"` };
    const tag = origin.tag && tags[origin.tag];
    const ifRange = request.headers['if-range'];
    const isPart = wants && gives && (ifRange === undefined || ifRange === tag || ifRange === DATE);
    const shift = origin.ranges === 'other range' ? 1 : 0;
    const from = isPart ? Number(first) : 0;
    const to = isPart && last ? Math.min(Number(last) + 1, FILE.length) : FILE.length;
    const body = FILE.subarray(from, to);
    const head = [
      `HTTP/1.1 ${isPart ? '206 Partial Content' : '200 OK'}`,
      `Date: ${new Date().toUTCString()}`,
      ...(origin.says === undefined ? [] : [`Accept-Ranges: ${origin.says}`]),
      ...(tag === undefined ? [] : [`ETag: ${tag}`]),
      ...(origin.isDated ? [`Last-Modified: ${DATE}`] : []),
      ...(isPart ? [`Content-Range: bytes ${from + shift}-${to - 1 + shift}/${FILE.length}`] : []),
      ...(origin.framing === 'chunks' ? [] : [`Content-Length: ${body.length}`]),
      ...(origin.framing === 'length' ? [] : ['Transfer-Encoding: chunked']),
      ...(origin.keepsConnections ? [] : ['Connection: close']),
    ];
    const { socket } = request;
    const breaksAt = origin.breaks[asked - 1] ?? FILE.length;
    const cut = body.subarray(0, Math.max(0, breaksAt - from));
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    if (origin.framing === 'length') socket.write(cut);
    else if (cut.length > 0)
      socket.write(Buffer.concat([Buffer.from(`${cut.length.toString(16)}\r\n`), cut, Buffer.from('\r\n')]));
    if (origin.framing !== 'length' && cut.length === body.length) socket.write('0\r\n\r\n');
    if (cut.length === body.length && origin.keepsConnections) return;
    if (origin.how === 'end' || cut.length === body.length) socket.end();
    else socket.write('', () => socket.resetAndDestroy());
  };
}

/**
 * Whether the rest can be had after a break: by what the origin says it has no use for ranges, or it has them
 * as it says. Of one that promises parts and gives others, nothing is kept to go on with.
 */
const isRepairable = ({ framing, says, ranges, tag, isDated }: OddOrigin): boolean => {
  const hasVersion = framing === 'length' && (tag === undefined ? isDated : tag !== 'weak');
  if (says === 'bytes' && hasVersion)
    return ranges !== 'whole' && ranges !== 'other range' && tag !== 'of its node';
  // Nothing but another tag for the same bytes: the next servers are asked, but not for ever.
  return tag !== 'of its node' || isDated;
};

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let listener: RequestListener;

  beforeAll(async () => {
    overlay = await startTestOverlay([], (...both) => listener(...both), splice);
    await overlay.addDepot('d2');
    await overlay.addDepot('d3');
    await overlay.addDepot('d1', { failover: { tries: 12, repairSeconds: 10 } });
  });
  afterAll(() => overlay.close());

  test.each([1, 4])(
    'servers behind one name that each call a file by a tag of their own: who has begun it ends it, over %i lanes',
    async (lanes) => {
      let asked = 0;
      listener = ({ headers, socket }) => {
        asked += 1;
        const tag = `"node${asked % 9}"`;
        const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
        const isPart = first !== undefined && (headers['if-range'] ?? tag) === tag;
        const from = isPart ? Number(first) : 0;
        const to = isPart && last ? Math.min(Number(last) + 1, FILE.length) : FILE.length;
        const head = [
          `HTTP/1.1 ${isPart ? '206 Partial Content' : '200 OK'}`,
          `Date: ${new Date().toUTCString()}`,
          `Last-Modified: ${DATE}`,
          `ETag: ${tag}`,
          'Accept-Ranges: bytes',
          'Connection: close',
          ...(isPart ? [`Content-Range: bytes ${from}-${to - 1}/${FILE.length}`] : []),
          `Content-Length: ${to - from}`,
        ];
        // The first one breaks off, where it has to give all at once.
        const end = asked === 1 ? Math.min(to, 500_000) : to;
        socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), FILE.subarray(from, end)]));
      };
      const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains: [['d1', 'd2']], lanes }, 'd1');
      const { body, broken } = await fetchRaw(url);
      expect({ broken, bytes: body.length }).toEqual({ broken: undefined, bytes: FILE.length });
      expect(hash(body)).toBe(hash(FILE));
    },
  );

  test('a download from odd servers is never of wrong bytes, and whole wherever a plain client gets it, or it can be repaired', async () => {
    const chains = [
      ['d1', 'd2'],
      ['d1', 'd3'],
    ];
    await fc.assert(
      fc.asyncProperty(oddOrigin, fc.constantFrom(1, 3), async (odd, lanes) => {
        listener = listenerOf(odd);
        const { status, body, broken } = await fetchRaw(
          overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains, lanes }, 'd1'),
        );
        expect(hash(body)).toBe(hash(FILE.subarray(0, body.length)));
        if (odd.breaks.some((at) => at < FILE.length) && !isRepairable(odd)) return;
        expect({ status, broken, bytes: body.length }).toEqual({
          status: 200,
          broken: undefined,
          bytes: FILE.length,
        });
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
