import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { secure } from './secure.ts';
import { Trust } from './trust.ts';

const CODES = {
  refused: 'origin-tls-failed',
  broken: 'origin-unreachable',
  timeout: 'origin-timeout',
} as const;

test('a handshake that nobody wants any more is not begun, and leaves no connection', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(stream, 'connect');
  // Given up in the very turn in which the connection stood; the peer never says a word.
  const handshake = secure(stream, 'localhost', new Trust(), CODES, AbortSignal.abort());
  await expect(handshake).rejects.toMatchObject({ code: 'origin-timeout' });
  expect(stream.destroyed).toBe(true);
  server.close();
});
