import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { LonghaulError } from '@longhaul/shared';
import { expect, test } from 'vitest';
import type { TimedAnswer } from '../../routes/fetcher.ts';
import { standStill } from '../../testing/stand-still.ts';
import { tryBlock } from './try-block.ts';

const BLOCK = { startByte: 0, endByte: 10 };
const AT_ONCE = { openedAtMs: 0, askedAtMs: 0, stoodAtMs: 0, answeredAtMs: 0 };
const answered = (statusCode: number, headers: Record<string, string>) =>
  ({
    ...AT_ONCE,
    head: { statusCode, headers: { etag: '"v1"', ...headers }, rawHeaders: [] },
    connection: { reset: () => {} },
  }) as unknown as TimedAnswer;

test('an origin is not taken for one that gives no blocks where its answer was there and this process stood still', async () => {
  const whole = answered(200, { 'accept-ranges': 'bytes', 'content-length': '100' });
  const block = answered(206, { 'content-range': 'bytes 0-9/100', 'content-length': '10' });
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (signal: AbortSignal) => {
    const socket = connect(port, '127.0.0.1');
    // The kernel connects meanwhile.
    process.nextTick(standStill, 700);
    await once(socket, 'connect', { signal });
    socket.destroy();
    return block;
  };
  expect(await tryBlock(whole, BLOCK, ask, new AbortController().signal)).toBe(block);
  server.close();
});

test('an origin is taken for one that gives no blocks where it does not answer, not where the way to it does not stand', async () => {
  const whole = answered(200, { 'accept-ranges': 'bytes', 'content-length': '100' });
  const trial = (stands: boolean) =>
    tryBlock(
      whole,
      BLOCK,
      async (signal, onStands) => {
        if (stands) onStands();
        await once(signal, 'abort');
        throw new LonghaulError('origin-unreachable');
      },
      new AbortController().signal,
    );
  expect(await Promise.all([trial(false), trial(true)])).toEqual(['missed', 'unfit']);
});

test.each([
  ['unfit', 'origin-bad-answer', 'answers with what is none'],
  ['untold', 'origin-unreachable', 'cannot be reached'],
  ['untold', 'master-unreachable', 'leads to where the master cannot be asked about'],
] as const)('the trial of a block is %s, by %s, where the origin %s', async (trial, code, _how) => {
  const whole = answered(200, { 'accept-ranges': 'bytes', 'content-length': '100' });
  const ask = () => Promise.reject(new LonghaulError(code));
  expect(await tryBlock(whole, BLOCK, ask, new AbortController().signal)).toBe(trial);
});
