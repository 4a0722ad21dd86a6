import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of `address` that nobody listens on, for servers that must know theirs beforehand. It is below those
 * that the kernel gives to connections: none of them takes it meanwhile.
 */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(10_000, 32_768);
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, address, () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
