import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(1_500_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let origin: RequestListener;

  beforeAll(async () => {
    overlay = await startTestOverlay(['d1', 'd2'], (asked, answer) => origin(asked, answer), splice, {
      config: { failover: { tries: 3 } },
    });
  });
  afterAll(() => overlay.close());

  const download = (claims = {}, headers = {}): Promise<RawAnswer> =>
    fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`, claims), { headers });

  /** An origin that has ranges, and says so much beside it. */
  const withFields = (fields: readonly string[]): RequestListener => {
    return (asked) => {
      const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
      const body = file.subarray(Number(first ?? 0), last ? Number(last) + 1 : file.length);
      const end = Number(first ?? 0) + body.length - 1;
      const range = first === undefined ? [] : [`Content-Range: bytes ${first}-${end}/${file.length}`];
      const status = first === undefined ? '200 OK' : '206 Partial Content';
      const own = ['ETag: "v1"', `Content-Length: ${body.length}`, ...range];
      asked.socket.write(`HTTP/1.1 ${status}\r\n${[...own, ...fields].join('\r\n')}\r\n\r\n`);
      asked.socket.write(body);
    };
  };
  const COOKIE = `Set-Cookie: ${'c'.repeat(4000)}`;

  test.each([1, 3])(
    'a head of sixty thousand bytes is no reason to refuse a file, over %i lanes',
    async (lanes) => {
      origin = withFields(Array.from({ length: 15 }, () => COOKIE));
      const { status, body, broken } = await download({ lanes });
      expect({ status, broken }).toEqual({ status: 200, broken: undefined });
      expect(hash(body)).toBe(hash(file));
      // Each lane has read such heads, where there are some.
      const lanesUsed = overlay.originRequests.filter(({ headers }) => headers.range !== undefined).length;
      expect(lanesUsed > 1).toBe(lanes > 1);
    },
  );

  test.each(['', 'none', 'identity', 'Identity, none', ','])(
    'a coding of the transfer that is none by its name, "%s", is none, over lanes as well',
    async (coding) => {
      origin = withFields([`Transfer-Encoding: ${coding}`]);
      for (const lanes of [1, 3]) {
        const { status, body, broken } = await download({ lanes });
        expect({ status, broken }).toEqual({ status: 200, broken: undefined });
        expect(hash(body)).toBe(hash(file));
      }
    },
  );

  test('a body that has neither a coding nor a length ends with its connection, and is cut where that breaks', async () => {
    for (const isCut of [false, true]) {
      origin = ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: none\r\n\r\n');
        if (isCut) socket.write(file.subarray(0, 500_000), () => socket.resetAndDestroy());
        else socket.end(file);
      };
      const { status, body, broken } = await download();
      expect({ status, isBroken: broken !== undefined }).toEqual({ status: 200, isBroken: isCut });
      if (!isCut) expect(hash(body)).toBe(hash(file));
    }
  });

  test.each(['gzip', 'xchunked', 'chunked-identity', 'none;q=1'])(
    'a body in a coding that nobody undoes, "%s", is no answer',
    async (coding) => {
      origin = withFields([`Transfer-Encoding: ${coding}`]);
      const { status, headers } = await download();
      expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
    },
  );

  test('a head of more than 64 KiB is no answer', async () => {
    origin = withFields(Array.from({ length: 17 }, () => COOKIE));
    const { status, headers } = await download();
    expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
  });
});
