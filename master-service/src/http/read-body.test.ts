import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startMaster, type TestMaster } from '../testing/start-master.ts';

let master: TestMaster;
beforeEach(async () => {
  master = await startMaster();
});
afterEach(() => master.master.close());

/** The status of each answer that comes over a connection. */
function send(text: string): { readonly socket: Socket; readonly statuses: () => string[] } {
  const socket = connect(master.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let come = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    come += chunk;
  });
  socket.on('error', () => {});
  socket.write(text);
  return {
    socket,
    statuses: () => [...come.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, status]) => status ?? ''),
  };
}

const post = (path: string, sizeBytes: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${sizeBytes}\r\n\r\n`;

describe('a body that is larger than anybody’s who means well', () => {
  test.each([
    ['/v1/plans', 65_536],
    ['/v1/legs', 4_096],
    ['/v1/feedback', 4_096],
    ['/v1/depots', 16_384],
    ['/v1/depots/d1/follow-ups', 65_536],
    ['/v1/depots/d1/heartbeat', 262_144],
  ])('is refused before it has come: %s', async (path, most) => {
    const { statuses } = send(post(path, most + 1));
    await expect.poll(statuses).toEqual(['400']);
  });
});

test('bodies of one network that are held back at their last byte leave room for others, and the one that is asked meanwhile is answered', async () => {
  const sizeBytes = 262_144;
  const held = Array.from({ length: 200 }, () =>
    send(post('/v1/depots/d1/heartbeat', sizeBytes) + ' '.repeat(sizeBytes - 1)),
  );
  const busy = () => held.filter(({ statuses }) => statuses()[0] === '503').length;
  // Half of 64 MiB is the network's: 128 of them.
  await expect.poll(busy, { timeout: 15_000 }).toBeGreaterThan(held.length - 130);
  expect((await fetch(`${master.url}/healthz`)).status).toBe(200);
  for (const { socket } of held) socket.destroy();
  const body = JSON.stringify({ url: 'https://origin.example/f' });
  const plan = async () => (await fetch(`${master.url}/v1/plans`, { method: 'POST', body })).status;
  await expect.poll(plan).toBe(200);
});
