import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { originBytes } from '../hosts/origin-content.ts';
import { hasProgram } from '../programs.ts';
import { rangesTransfer } from './ranges-transfer.ts';
import { BENCH_BYTES, startTransferBench, type TransferBench } from './transfer-bench.ts';

const FILE = `/${BENCH_BYTES}/a.bin`;
let bench: TransferBench | undefined;
afterEach(() => bench?.close());

describe.skipIf(!hasProgram('curl'))('rangesTransfer', () => {
  it('gets the file in as many ranges as connections, all at once', async () => {
    const file = originBytes(BENCH_BYTES);
    const held: (() => void)[] = [];
    // One after the other would wait for ever.
    const answerTogether: RequestListener = ({ headers }, response) => {
      const [first = 0, last = 0] = headers.range?.match(/[0-9]+/g)?.map(Number) ?? [];
      const range = `bytes ${first}-${last}/${BENCH_BYTES}`;
      held.push(() =>
        response.writeHead(206, { 'Content-Range': range }).end(file.subarray(first, last + 1)),
      );
      if (held.length === 8) for (const answer of held) answer();
    };
    bench = await startTransferBench({ pages: { [FILE]: answerTogether } });
    const outcome = await bench.fetch(rangesTransfer(8), FILE);
    expect(outcome).toMatchObject({ receivedBytes: BENCH_BYTES, isRight: true, isCut: false });
    expect(bench.origin.connections()).toBe(8);
    expect(bench.origin.requests.map(({ headers }) => headers.range)).toContain('bytes=0-2499999');
  });

  it('is cut with the bytes of all ranges so far', async () => {
    bench = await startTransferBench({ rateBps: 4e6 });
    const outcome = await bench.fetch(rangesTransfer(8), FILE, { cutSeconds: 2 });
    expect(outcome).toMatchObject({ isCut: true, isRight: true });
    expect(outcome.error).toBeUndefined();
    const { toOthers: sentBytes } = bench.origin.sentBytes(FILE);
    // Of one range alone it would be an eighth; some is on its way.
    expect(outcome.receivedBytes).toBeGreaterThan(sentBytes / 4);
    expect(outcome.receivedBytes).toBeLessThanOrEqual(sentBytes);
    expect(outcome.receivedBytes).toBeLessThan(BENCH_BYTES);
    expect(outcome.seconds).toBeGreaterThan(1.98);
  });

  it('finds a wrong byte in any range', async () => {
    bench = await startTransferBench();
    const expected = Buffer.from(originBytes(BENCH_BYTES));
    expected[BENCH_BYTES - 1] = (expected[BENCH_BYTES - 1] ?? 0) ^ 1;
    const outcome = await bench.fetch(rangesTransfer(8), FILE, { expected });
    expect(outcome).toMatchObject({ isRight: false, isCut: false });
    expect(outcome.error).toBe('bytes 17500000-19999999: byte 2499999 is wrong');
  });

  it('is not right when the origin ignores ranges', async () => {
    bench = await startTransferBench({
      pages: { '/whole': (_, response) => void response.end(originBytes(BENCH_BYTES)) },
    });
    const outcome = await bench.fetch(rangesTransfer(2), '/whole');
    expect(outcome.isRight).toBe(false);
    expect(outcome.error).toContain('too many');
  });

  it('says what went wrong when there is no such file', async () => {
    bench = await startTransferBench();
    const outcome = await bench.fetch(rangesTransfer(8), '/nothing');
    expect(outcome).toMatchObject({ isCut: false, isRight: false, receivedBytes: 0 });
    expect(outcome.error).toContain('404');
  });
});
