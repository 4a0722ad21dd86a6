import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { originBytes } from '../hosts/origin-content.ts';
import { hasProgram } from '../programs.ts';
import { curlTransfer } from './curl-transfer.ts';
import { BENCH_BYTES, startTransferBench, type TransferBench } from './transfer-bench.ts';

const FILE = `/${BENCH_BYTES}/a.bin`;
/** What the origin's slow pages wait. */
const REDIRECT_MS = 200;
const HEADERS_MS = 1500;
const BODY_MS = 100;

let bench: TransferBench | undefined;
afterEach(() => bench?.close());

describe.skipIf(!hasProgram('curl'))('curlTransfer', () => {
  it('gets a whole file and says that it is right', async () => {
    bench = await startTransferBench();
    const outcome = await bench.fetch(curlTransfer, FILE);
    expect(outcome).toMatchObject({ receivedBytes: BENCH_BYTES, isRight: true, isCut: false });
    expect(outcome.error).toBeUndefined();
    expect(outcome.finalUrl).toMatch(/a\.bin$/);
    expect(outcome.ttfbMs).toBeGreaterThan(0);
    expect(outcome.ttfbMs).toBeLessThan(outcome.seconds * 1000);
  });

  it('counts redirects into the set-up, and the time to the first byte from the very start', async () => {
    bench = await startTransferBench({
      pages: {
        '/first': (_, response) =>
          void setTimeout(() => response.writeHead(302, { Location: '/second' }).end(), REDIRECT_MS),
        '/second': (_, response) =>
          void setTimeout(() => response.writeHead(302, { Location: '/slow' }).end(), REDIRECT_MS),
        '/slow': (_, response) =>
          void setTimeout(() => {
            response.writeHead(200, { 'Content-Length': BENCH_BYTES }).flushHeaders();
            setTimeout(() => response.end(originBytes(BENCH_BYTES)), BODY_MS);
          }, HEADERS_MS),
      },
    });
    const { setUpMs, ttfbMs, finalUrl, isRight } = await bench.fetch(curlTransfer, '/first');
    expect(isRight).toBe(true);
    expect(finalUrl).toMatch(/\/slow$/);
    expect(setUpMs).toBeGreaterThanOrEqual(2 * REDIRECT_MS - 5);
    // What the origin has waited for behind the set-up is none of it.
    expect((ttfbMs ?? 0) - (setUpMs ?? 0)).toBeGreaterThanOrEqual(HEADERS_MS + BODY_MS - 5);
  });

  it('is cut with the bytes so far, which are right', async () => {
    bench = await startTransferBench({ rateBps: 20e6 });
    const outcome = await bench.fetch(curlTransfer, FILE, { cutSeconds: 2 });
    expect(outcome).toMatchObject({ isCut: true, isRight: true });
    expect(outcome.error).toBeUndefined();
    expect(outcome.seconds).toBeGreaterThan(1.98);
    const { toOthers: sentBytes } = bench.origin.sentBytes(FILE);
    // Some is on its way.
    expect(outcome.receivedBytes).toBeGreaterThan(sentBytes / 4);
    expect(outcome.receivedBytes).toBeLessThanOrEqual(sentBytes);
    expect(outcome.receivedBytes).toBeLessThan(BENCH_BYTES);
  });

  it('is cut in time also when nothing comes after a redirect', async () => {
    bench = await startTransferBench({
      pages: {
        '/stuck': () => {},
        '/to-stuck': (_, response) =>
          void setTimeout(() => response.writeHead(302, { Location: '/stuck' }).end(), REDIRECT_MS),
      },
    });
    const outcome = await bench.fetch(curlTransfer, '/to-stuck', { cutSeconds: 0.5 });
    expect(outcome).toMatchObject({ isCut: true, isRight: true, receivedBytes: 0, ttfbMs: null });
    expect(outcome.seconds).toBeLessThan(3);
  });

  it('finds a single wrong byte, of a whole file and of a cut one', async () => {
    const expected = Buffer.from(originBytes(BENCH_BYTES));
    expected[12_345] = (expected[12_345] ?? 0) ^ 1;
    bench = await startTransferBench();
    const whole = await bench.fetch(curlTransfer, FILE, { expected });
    expect(whole).toMatchObject({ isRight: false, error: 'byte 12345 is wrong' });
    await bench.close();
    bench = await startTransferBench({ rateBps: 20e6 });
    const cut = await bench.fetch(curlTransfer, FILE, { expected, cutSeconds: 2 });
    expect(cut).toMatchObject({ isCut: true, isRight: false, error: 'byte 12345 is wrong' });
  });

  it('does not take a short or a long file for the right one', async () => {
    bench = await startTransferBench();
    const expected = originBytes(BENCH_BYTES);
    const short = await bench.fetch(curlTransfer, FILE, { expected: Buffer.concat([expected, expected]) });
    expect(short).toMatchObject({ isRight: false, error: 'only 20000000 of 40000000 bytes arrived' });
    const long = await bench.fetch(curlTransfer, FILE, { expected: expected.subarray(0, -3) });
    expect(long).toMatchObject({ isRight: false, error: '3 bytes too many arrived' });
  });

  it('says what went wrong when there is no such file', async () => {
    bench = await startTransferBench();
    const outcome = await bench.fetch(curlTransfer, '/nothing');
    expect(outcome).toMatchObject({ isCut: false, isRight: false, receivedBytes: 0, ttfbMs: null });
    expect(outcome.error).toContain('404');
  });

  it('says what went wrong when nobody listens', async () => {
    bench = await startTransferBench();
    const outcome = await bench.fetch(curlTransfer, `http://127.0.0.1:${await closedPort()}/x`);
    expect(outcome).toMatchObject({ isCut: false, isRight: false, receivedBytes: 0 });
    expect(outcome.error).toMatch(/connect/);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
