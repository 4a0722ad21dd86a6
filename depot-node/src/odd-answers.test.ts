import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
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
    overlay = await startTestOverlay(['d1', 'd2'], (asked, answer) => origin(asked, answer), splice);
  });
  afterAll(() => overlay.close());

  const download = (): Promise<RawAnswer> => fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file.bin`));

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
});
