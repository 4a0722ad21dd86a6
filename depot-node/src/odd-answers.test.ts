import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw, type RawAnswer } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(1_500_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const VERSION = { ETag: '"v1"', 'Accept-Ranges': 'bytes' };

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

  test('a head that comes before any byte of its body is passed on before it', async () => {
    origin = (_asked, answer) => {
      answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).flushHeaders();

      // After the entry depot has read the head; nothing tells when.
      setTimeout(() => answer.end(file), 100);
    };
    const { status, body, broken } = await download();
    expect({ status, broken }).toEqual({ status: 200, broken: undefined });
    expect(hash(body)).toBe(hash(file));
  });

  /** Answers in chunks, whose sum is not what `Content-Range` says, where `change` is given. */
  const sendPart = (asked: IncomingMessage, answer: ServerResponse, change = 0) => {
    const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(asked.headers.range ?? '') ?? [];
    const from = Number(first);
    const to = last ? Math.min(Number(last) + 1, file.length) : file.length;
    answer.writeHead(206, { ...VERSION, 'Content-Range': `bytes ${from}-${to - 1}/${file.length}` });
    answer.end(Buffer.concat([file, randomBytes(change > 0 ? change : 0)]).subarray(from, to + change));
  };

  test.each([
    ['fewer', -1000],
    ['more', 1000],
  ])('a rest in chunks that are %s bytes than it says is not taken for the whole', async (_, change) => {
    let requests = 0;
    origin = (asked, answer) => {
      requests += 1;
      if (requests > 1) return sendPart(asked, answer, requests === 2 ? change : 0);
      answer.writeHead(200, { ...VERSION, 'Content-Length': file.length });
      answer.write(file.subarray(0, 600_000), () => answer.socket?.resetAndDestroy());
    };
    const { body, broken } = await download();
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
    expect(requests).toBe(3);
  });

  test.each([
    ['fewer', -1000],
    ['more', 1000],
  ])('a first block in chunks that are %s bytes than it says harms no lane', async (_, change) => {
    let requests = 0;
    origin = (asked, answer) => {
      requests += 1;
      sendPart(asked, answer, requests === 1 ? change : 0);
    };
    const { body, broken } = await download({ lanes: 2 });
    expect(broken).toBeUndefined();
    expect(hash(body)).toBe(hash(file));
  });

  test('a part in fewer chunks than it says is not complete for the client either', async () => {
    origin = (asked, answer) => sendPart(asked, answer, -1000);
    const { status, broken } = await download({}, { range: 'bytes=1000-1399999' });
    expect({ status, broken }).toEqual({ status: 206, broken: 'ECONNRESET' });
  });

  test('a way that stood and breaks before the head of the answer is replaced like any other', async () => {
    let requests = 0;
    origin = (_asked, answer) => {
      requests += 1;
      if (requests === 1) answer.socket?.resetAndDestroy();
      else answer.writeHead(200, { ...VERSION, 'Content-Length': file.length }).end(file);
    };
    const { status, body } = await download();
    expect(status).toBe(200);
    expect(hash(body)).toBe(hash(file));
  });
});
