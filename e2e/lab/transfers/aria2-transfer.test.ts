import { afterEach, describe, expect, it } from 'vitest';
import { originBytes } from '../hosts/origin-content.ts';
import { hasProgram } from '../programs.ts';
import { aria2Transfer } from './aria2-transfer.ts';
import { BENCH_BYTES, startTransferBench, type TransferBench } from './transfer-bench.ts';

const FILE = `/${BENCH_BYTES}/a.bin`;
let bench: TransferBench | undefined;
afterEach(() => bench?.close());

describe.skipIf(!hasProgram('aria2c'))('aria2Transfer', () => {
  it('gets a whole file over many connections', async () => {
    bench = await startTransferBench({ rateBps: 40e6 });
    const outcome = await bench.fetch(aria2Transfer(16), FILE);
    expect(outcome).toMatchObject({ receivedBytes: BENCH_BYTES, isRight: true, isCut: false });
    expect(bench.origin.connections()).toBeGreaterThanOrEqual(16);
  });

  it('is cut with the blocks it has, and each of them is right', async () => {
    bench = await startTransferBench({ rateBps: 4e6 });
    const outcome = await bench.fetch(aria2Transfer(16), FILE, { cutSeconds: 1 });
    expect(outcome).toMatchObject({ isCut: true, isRight: true });
    expect(outcome.error).toBeUndefined();
    // 16 connections of 4 Mbit/s bring 8 MB in a second.
    expect(outcome.receivedBytes).toBeGreaterThan(3_000_000);
    expect(outcome.receivedBytes).toBeLessThan(9_000_000);
  });

  it('finds a wrong byte, of a whole file and of a cut one', async () => {
    const expected = Buffer.from(originBytes(BENCH_BYTES));
    expected[1000] = (expected[1000] ?? 0) ^ 1;
    bench = await startTransferBench();
    const whole = await bench.fetch(aria2Transfer(16), FILE, { expected });
    expect(whole).toMatchObject({ isRight: false, isCut: false, error: 'byte 1000 is wrong' });
    await bench.close();
    bench = await startTransferBench({ rateBps: 4e6 });
    const cut = await bench.fetch(aria2Transfer(16), FILE, { expected, cutSeconds: 1 });
    expect(cut).toMatchObject({ isRight: false, isCut: true, error: 'byte 1000 is wrong' });
  });

  it('is cut without bytes when nothing has come', async () => {
    bench = await startTransferBench({ pages: { '/stuck': () => {} } });
    const outcome = await bench.fetch(aria2Transfer(16), '/stuck', { cutSeconds: 0.5 });
    expect(outcome).toMatchObject({ isCut: true, isRight: true, receivedBytes: 0 });
  });

  it('says what went wrong when there is no such file', async () => {
    bench = await startTransferBench();
    const outcome = await bench.fetch(aria2Transfer(16), '/nothing');
    expect(outcome).toMatchObject({ isCut: false, isRight: false, receivedBytes: 0 });
    expect(outcome.error).toMatch(/not found/i);
  });
});
