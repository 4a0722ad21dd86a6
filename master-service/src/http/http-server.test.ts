import { once } from 'node:events';
import { connect } from 'node:net';
import { ConnectionLimiter, type RefusedConnection } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HttpServer } from './http-server.ts';

let refused: RefusedConnection[];
let limiter: ConnectionLimiter;
let server: HttpServer;

beforeEach(() => {
  refused = [];
  limiter = new ConnectionLimiter({
    limits: { most: 1, reserved: 0, perNetwork: 1, waitingPerNetwork: 1 },
    isTrusted: () => false,
    onRefused: (one) => refused.push(one),
  });
});
afterEach(() => server.close());

test('a server keeps so many connections and closes further ones at once', async () => {
  server = new HttpServer((_request, response) => response.end(), { tls: undefined, limiter });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const first = connect(port, '127.0.0.1');
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(first, 'data');
  const second = connect(port, '127.0.0.1');
  await once(second.resume(), 'close');
  expect(refused).toEqual([{ bound: 'all', network: '127.0.0.0/24' }]);
  first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  first.destroy();
});

test.each([
  ['half a head', 'GET / HTTP/1.1\r\nHost: x'],
  ['nothing', ''],
])(
  'who sends %s is closed when the time for a head is over, and not half a minute later',
  async (_, sent) => {
    server = new HttpServer((_request, response) => response.end(), {
      tls: undefined,
      limiter,
      headTimeoutMs: 100,
    });
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const client = connect(port, '127.0.0.1');
    client.write(sent);
    // Without its own interval of looking Node would take longer than this test may.
    await once(client.resume(), 'close');
    await expect.poll(() => limiter.open).toBe(0);
  },
);
