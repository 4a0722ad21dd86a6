import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { resetConnection } from './reset.ts';

async function acceptedSocket(): Promise<{ outer: Socket; inner: Socket }> {
  const listener = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const outer = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  outer.on('error', () => {});
  const [inner] = (await once(listener, 'connection')) as [Socket];
  inner.on('error', () => {});
  listener.close();
  return { outer, inner };
}

test('a reset reaches the peer as a reset', async () => {
  const { outer, inner } = await acceptedSocket();
  const failure = once(outer, 'error');
  resetConnection(inner);
  expect((await failure)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test.runIf(process.platform === 'linux')(
  'a reset while an end is on its way leaves no descriptor behind',
  async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    for (let index = 0; index < 20; index += 1) {
      const { outer, inner } = await acceptedSocket();
      inner.end();
      resetConnection(inner);
      outer.destroy();
    }
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  },
);
