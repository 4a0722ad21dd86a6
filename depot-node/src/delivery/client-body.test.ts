import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ClientBody } from './client-body.ts';

const NEVER_MS = 1_000_000;

test('nobody waits for room any more once the body has ended', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).end();
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const client = new ClientBody(response, { stallMs: NEVER_MS, onBytes: () => {} });
  const { signal } = new AbortController();
  while (client.write(Buffer.alloc(65_536)));
  const roomy = client.roomy(signal);
  const finished = client.finish(signal);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  expect((await finished).state).toBe('ready');
  // It would hold its timer, and the answer with it, for as long as clients may stall.
  await expect(roomy).resolves.toBe('left');
  server.closeAllConnections();
  server.close();
});
