import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectTcp, type Server, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { ConnectionLimiter, type RefusedConnection, selfSigned } from '@longhaul/shared/service';
import { afterEach, describe, expect, test } from 'vitest';
import { testEndings } from '../testing/test-endings.ts';
import { createListener } from './listener.ts';
import { ListenerCertificate } from './listener-certificate.ts';

const tls = selfSigned();
const opened: Socket[] = [];
let server: Server;
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

describe.each<[string, () => Server]>([
  ...(await testEndings()).map(([who, ending]): [string, () => Server] => [
    `a depot's listener and ${who}`,
    () =>
      createListener((_request, response) => response.end('served'), new ListenerCertificate(tls, ending)),
  ]),
  ["Node's own", () => createHttpsServer(tls, (_request, response) => response.end('served'))],
])('over TLS, by %s', (_, create) => {
  test('a handshake waits, a request that came does not, and who waits too much is closed', async () => {
    const refused: RefusedConnection[] = [];
    const limiter = new ConnectionLimiter({
      limits: { most: 10, reserved: 0, perNetwork: 10, waitingPerNetwork: 1, unusedPerNetwork: 10_000 },
      isTrusted: () => false,
      onRefused: (one) => refused.push(one),
    });
    server = create();
    limiter.guard(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    for (let round = 0; round < 2; round += 1) {
      const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      opened.push(client);
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(String((await once(client, 'data'))[0])).toContain('200 OK');
    }
    const seen = once(server, 'connection');
    const handshaking = connectTcp({ port, host: '127.0.0.1' });
    await seen;
    const second = connectTcp({ port, host: '127.0.0.1' });
    await once(second.resume(), 'close');
    expect(refused).toEqual([{ bound: 'network-waiting', network: '127.0.0.0/24' }]);
    expect(limiter.open).toBe(3);
    handshaking.resetAndDestroy();
  });

  test('who is refused his handshake again and again is closed at once, and others are served', async () => {
    const refused: RefusedConnection[] = [];
    const limiter = new ConnectionLimiter({
      limits: { most: 10, reserved: 0, perNetwork: 10, waitingPerNetwork: 10, unusedPerNetwork: 2 },
      isTrusted: () => false,
      onRefused: (one) => refused.push(one),
      nowMs: () => 0,
    });
    server = create();
    limiter.guard(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const place = { port: typeof address === 'object' && address ? address.port : 0, host: '127.0.0.1' };
    for (let round = 0; round < 2; round += 1) {
      // It knows no version that a listener speaks.
      const client = connectTcp(place);
      client.write(Buffer.of(22, 3, 1, 0, 5, 1, 0, 0, 1, 0));
      await once(client.resume(), 'close');
      await expect.poll(() => limiter.open).toBe(0);
    }
    expect(refused).toEqual([]);
    await once(connectTcp(place).resume(), 'close');
    expect(refused).toEqual([{ bound: 'network-unused', network: '127.0.0.0/24' }]);
    const socket = connectTcp({ ...place, localAddress: '127.0.1.1' });
    const other = connect({ socket, rejectUnauthorized: false });
    opened.push(other);
    other.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String((await once(other, 'data'))[0])).toContain('200 OK');
  });
});
