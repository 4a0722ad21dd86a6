import { MIB } from '@longhaul/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { originBytes } from '../hosts/origin-content.ts';
import { hasProgram } from '../programs.ts';
import { aria2Transfer } from './aria2-transfer.ts';
import { BENCH_BYTES, startTransferBench, type TransferBench } from './transfer-bench.ts';

const FILE = `/${BENCH_BYTES}/a.bin`;
/** The first answer may be to the whole; so many after it come at once. */
const QUICK_ANSWERS = 2;
/** Far fewer than pieces: whoever has got all of his asks for another one. */
const CUT_CONNECTIONS = 8;
/** The first bytes of each come at once, too; all of one in minutes. */
const SLOW_BPS = 1e5;
let bench: TransferBench | undefined;
afterEach(() => {
  vi.useRealTimers();
  return bench?.close();
});

/**
 * What aria2 has of `FILE` when it has got some pieces of it, of which it told by asking for others, and the first
 * bytes of all others.
 */
async function cutBehindSomePieces(options: { readonly expected?: Buffer } = {}) {
  let asked = 0;
  const isQuick = () => asked > 1 && asked <= 1 + QUICK_ANSWERS;
  bench = await startTransferBench({
    rateBps: () => {
      asked += 1;
      return isQuick() ? Infinity : SLOW_BPS;
    },
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const outcome = bench.fetch(aria2Transfer(CUT_CONNECTIONS), FILE, { ...options, cutSeconds: 1 });
  await expect.poll(() => asked).toBeGreaterThan(CUT_CONNECTIONS);
  vi.advanceTimersByTime(1000);
  return { outcome: await outcome, sentBytes: bench.origin.sentBytes(FILE).toOthers };
}

describe.skipIf(!hasProgram('aria2c'))('aria2Transfer', () => {
  it('gets a whole file over many connections', async () => {
    bench = await startTransferBench({ rateBps: 40e6 });
    const outcome = await bench.fetch(aria2Transfer(16), FILE);
    expect(outcome).toMatchObject({ receivedBytes: BENCH_BYTES, isRight: true, isCut: false });
    expect(bench.origin.connections()).toBeGreaterThanOrEqual(16);
  });

  it('is cut with the blocks it has, and each of them is right', async () => {
    const { outcome, sentBytes } = await cutBehindSomePieces();
    expect(outcome).toMatchObject({ isCut: true, isRight: true });
    expect(outcome.error).toBeUndefined();
    // Of one piece at least it has told that it has it.
    expect(outcome.receivedBytes).toBeGreaterThanOrEqual(MIB);
    expect(outcome.receivedBytes).toBeLessThanOrEqual(sentBytes);
    expect(outcome.receivedBytes).toBeLessThan(BENCH_BYTES);
  });

  it('finds a wrong byte, of a whole file and of a cut one', async () => {
    const expected = Buffer.from(originBytes(BENCH_BYTES));
    expected[1000] = (expected[1000] ?? 0) ^ 1;
    bench = await startTransferBench();
    const whole = await bench.fetch(aria2Transfer(16), FILE, { expected });
    expect(whole).toMatchObject({ isRight: false, isCut: false, error: 'byte 1000 is wrong' });
    await bench.close();
    const { outcome: cut } = await cutBehindSomePieces({ expected });
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
