import { createHash, randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders, RequestListener } from 'node:http';
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

  test.each(['-1294967296', '', '6 bytes'])(
    'a length that is no number, "%s", is none: the body ends with its connection, and is cut where that breaks',
    async (length) => {
      for (const lanes of [1, 3]) {
        for (const isCut of [false, true]) {
          origin = ({ socket }) => {
            socket.write(`HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: ${length}\r\n\r\n`);
            if (isCut) socket.write(file.subarray(0, 500_000), () => socket.resetAndDestroy());
            else socket.end(file);
          };
          const { status, headers, body, broken } = await download({ lanes });
          expect({ status, isBroken: broken !== undefined }).toEqual({ status: 200, isBroken: isCut });
          expect(headers['content-length']).toBeUndefined();
          if (!isCut) expect(hash(body)).toBe(hash(file));
        }
      }
    },
  );

  test('a part whose length is no number is as long as its place says, or cut', async () => {
    for (const isWhole of [true, false]) {
      origin = ({ socket }) => {
        const place = `Content-Range: bytes 1000-1400999/${file.length}`;
        socket.write(`HTTP/1.1 206 Partial Content\r\nETag: "v1"\r\n${place}\r\nContent-Length: -1\r\n\r\n`);
        socket.end(file.subarray(1000, isWhole ? 1_401_000 : 901_000));
      };
      const { status, body, broken } = await download({}, { range: 'bytes=1000-1400999' });
      expect({ status, isBroken: broken !== undefined }).toEqual({ status: 206, isBroken: !isWhole });
      if (isWhole) expect(hash(body)).toBe(hash(file.subarray(1000, 1_401_000)));
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

  /** An origin that gives bytes of the file as 206, whatever it is asked for. */
  const givePart = (contentRange: string | undefined, body: Buffer, others = {}) => {
    const own = { ETag: '"v1"', 'Content-Length': body.length, 'Content-Range': contentRange, ...others };
    const headers = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    origin = (_asked, answer) => {
      answer.writeHead(206, headers as OutgoingHttpHeaders).end(body);
    };
  };
  const SIZE = file.length;

  test.each([
    ['shorter than it was asked for', `bytes 100-150/${SIZE}`, 151],
    ['of a file of any length', 'bytes 100-199/*', 200],
    ['shorter, of a file of any length', 'bytes 100-150/*', 151],
    ['with blanks between', `bytes  100 - 199 / ${SIZE}`, 200],
    ['with a tab and blanks at the end', `bytes\t100-199/${SIZE} `, 200],
    ['with blanks, of a file of any length', 'bytes 100-199/ *', 200],
    ['in another case', `Bytes 100-199/${SIZE}`, 200],
    ['as if it were asked for', `bytes=100-199/${SIZE}`, 200],
    ['with a colon', `bytes: 100-199/${SIZE}`, 200],
  ])('a part that the client asked for comes where the origin states it %s', async (_, contentRange, end) => {
    const body = file.subarray(100, end);
    givePart(contentRange, body);
    const answer = await download({}, { range: 'bytes=100-199' });
    expect(answer).toMatchObject({ status: 206, broken: undefined });
    expect(answer.headers['content-length']).toBe(String(body.length));
    expect(hash(answer.body)).toBe(hash(body));
  });

  test.each([
    ['that begins elsewhere', `bytes  101-199/${SIZE}`, 99],
    ['that begins elsewhere, of a file of any length', 'bytes 101-199/*', 99],
    ['that is longer than its body', `bytes  100-199/${SIZE}`, 51],
    ['that is longer than its body, of a file of any length', 'bytes 100-199/*', 51],
    ['that ends behind its file', 'bytes 100-199/150', 100],
    ['that ends before it begins', `bytes 100-99/${SIZE}`, 0],
    ['in numbers with blanks', `bytes 1 00-199/${SIZE}`, 100],
    ['of something else than bytes', `lines 100-199/${SIZE}`, 100],
    ['that is not stated', undefined, 100],
  ])('a part %s is no answer to a client', async (_, contentRange, bodyBytes) => {
    givePart(contentRange, file.subarray(100, 100 + bodyBytes));
    const { status, headers } = await download({}, { range: 'bytes=100-199' });
    expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
  });

  const WHOLE = `bytes 0-${SIZE - 1}/${SIZE}`;
  test.each([
    ['by its length', {}],
    ['in chunks', { 'Content-Length': undefined }],
  ])('a whole file that its origin calls a part nobody asked for is that file, %s', async (_, framing) => {
    for (const validators of [{}, { ETag: undefined }]) {
      givePart(WHOLE, file, { ...framing, ...validators });
      for (const [lanes, headers] of [
        [1, {}],
        [3, {}],
        // Who goes on from a byte is given the whole where there are no parts.
        [1, { range: 'bytes=1000-' }],
        [3, { range: 'bytes=1000-' }],
        [1, { range: 'bytes=1000-', 'if-range': '"v0"' }],
      ] as const) {
        const answer = await download({ lanes }, headers);
        expect(answer).toMatchObject({ status: 200, broken: undefined });
        expect(answer.headers['content-length']).toBe(String(SIZE));
        expect(answer.headers['content-range']).toBeUndefined();
        expect(hash(answer.body)).toBe(hash(file));
      }
    }
  });

  test('a whole file that was asked for as a part stays one', async () => {
    givePart(WHOLE, file);
    for (const range of ['bytes=0-', `bytes=0-${SIZE - 1}`, `bytes=-${SIZE}`]) {
      const answer = await download({}, { range });
      expect(answer).toMatchObject({ status: 206, broken: undefined, headers: { 'content-range': WHOLE } });
      expect(hash(answer.body)).toBe(hash(file));
    }
  });

  test('a whole file that is called a part is repaired like any other', async () => {
    let requests = 0;
    origin = (_asked, answer) => {
      requests += 1;
      answer.writeHead(206, { ETag: '"v1"', 'Content-Length': SIZE, 'Content-Range': WHOLE });
      if (requests > 1) answer.end(file);
      else answer.write(file.subarray(0, 700_000), () => answer.socket?.resetAndDestroy());
    };
    const { status, body, broken } = await download();
    expect({ status, broken }).toEqual({ status: 200, broken: undefined });
    expect(hash(body)).toBe(hash(file));
  });

  test('a whole file that is called a part, in fewer chunks than it says, is never complete', async () => {
    givePart(WHOLE, file.subarray(0, SIZE - 1000), { 'Content-Length': undefined });
    const { status, broken } = await download();
    expect({ status, isBroken: broken !== undefined }).toEqual({ status: 200, isBroken: true });
  });

  test.each([
    ['the beginning', `bytes 0-99999/${SIZE}`, 100_000],
    ['the end', `bytes 100-${SIZE - 1}/${SIZE}`, SIZE - 100],
    ['what may be less than all', 'bytes 0-99999/*', 100_000],
    ['what is not said', undefined, 100_000],
  ])(
    'a part of a file that nobody asked for is not passed off as the file: %s',
    async (_, contentRange, bytes) => {
      givePart(contentRange, file.subarray(SIZE - bytes));
      for (const lanes of [1, 3]) {
        const { status, headers } = await download({ lanes });
        expect({ status, code: headers[HEADERS.error] }).toEqual({ status: 502, code: 'origin-bad-answer' });
      }
    },
  );
});
