import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerBrokenRequest } from './broken-request.ts';

let server: Server;
beforeEach(async () => {
  server = createServer({ headersTimeout: 100, connectionsCheckingInterval: 20 })
    .on('clientError', (error, socket) => answerBrokenRequest(error, socket))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => server.close());

/** A client that sends its half and does not close it, and the server's end of its connection. */
async function halfOpenClient(sent: string): Promise<{ client: Socket; served: Socket }> {
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.write(sent);
  const [served] = (await accepted) as [Socket];
  return { client, served };
}

describe('a client that is refused before it made a request', () => {
  test.each([
    ['no HTTP', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['a head without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(100_000)}`, 431],
  ])(
    'by %s reads why and then keeps no socket of the master, even when it never closes',
    async (_, sent, status) => {
      const { client, served } = await halfOpenClient(sent);
      const closed = once(served, 'close');
      expect(await text(client)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      await closed;
      client.destroy();
    },
  );

  test('by the time that it takes for its head reads why', async () => {
    const { client } = await halfOpenClient('GET / HTTP/1.1\r\nX: ');
    expect(await text(client)).toMatch(/^HTTP\/1.1 400 /);
    client.end();
  });

  test('reads why also when it goes on sending', async () => {
    const { client, served } = await halfOpenClient('GET / HTTP/9.9\r\n\r\n');
    const closed = once(served, 'close');
    client.write('x'.repeat(1_000_000));
    expect(await text(client)).toMatch(/bad-request: .*\n$/);
    client.end();
    await closed;
  });
});

test('a connection that has brought nothing yet ends without a word: a request on its way would take it for its answer', async () => {
  const { client, served } = await halfOpenClient('');
  const closed = once(served, 'close');
  expect(await text(client)).toBe('');
  await closed;
  client.destroy();
});
