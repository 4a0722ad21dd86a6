import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { ClientBody } from './client-body.ts';

const NEVER_MS = 1_000_000;

/** A body whose client has asked, and the client's side of it. */
async function begin() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).end();
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const client = new ClientBody(response, { stallMs: NEVER_MS, onBytes: () => {} });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { asked, response, client, close };
}

test('a client that does not read is kept few bytes for, however small the pieces that they come in', async () => {
  const { asked, response, client, close } = await begin();
  const { signal } = new AbortController();
  // Its kernel and ours are full when something waits.
  while (response.writableLength === 0) client.write(Buffer.alloc(8192));
  let waiting = 0;
  while (client.write(Buffer.alloc(1))) waiting += 1;
  expect(waiting).toBeLessThanOrEqual(256);
  // What comes nevertheless is not lost, and it goes on when the client reads.
  expect(client.write(Buffer.from('end'))).toBe(false);
  const roomy = client.roomy(signal);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let body = Buffer.alloc(0);
  answer.on('data', (chunk: Buffer) => {
    body = Buffer.concat([body, chunk]);
  });
  await expect(roomy).resolves.toBe('ready');
  expect(client.write(Buffer.from('!'))).toBe(true);
  await client.finish(signal);
  await once(answer, 'end');
  expect(body.length).toBe(client.bytes);
  expect(body.subarray(-4).toString()).toBe('end!');
  close();
});

test('nobody waits for room any more once the body has ended', async () => {
  const { asked, client, close } = await begin();
  const { signal } = new AbortController();
  while (client.write(Buffer.alloc(65_536)));
  const roomy = client.roomy(signal);
  const finished = client.finish(signal);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  expect((await finished).state).toBe('ready');
  // It would hold its timer, and the answer with it, for as long as clients may stall.
  await expect(roomy).resolves.toBe('left');
  close();
});

test.each([
  ['before all has come is reset', false, 'ECONNRESET'],
  ['behind the last byte gets all, and its end', true, 'end'],
])(
  'a client of HTTP/1.0 that ends its own side %s, where nothing but the end tells the length',
  async (_, isWhole, how) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const over = new Promise((resolve) => {
      socket
        .once('end', () => resolve('end'))
        .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const client = new ClientBody(response, { stallMs: NEVER_MS, onBytes: () => {} });
    client.begin(200, [['Content-Type', 'text/plain']]);
    client.write(Buffer.from('the beginning'));
    if (isWhole) expect((await client.finish(new AbortController().signal)).state).toBe('ready');
    let came = '';
    socket.on('data', (chunk) => {
      came += String(chunk);
      if (came.endsWith('the beginning')) socket.end();
    });
    expect(await over).toBe(how);
    expect(came).toMatch(/the beginning$/);
    server.close();
  },
);
