import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
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
