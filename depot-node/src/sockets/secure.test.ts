import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, test } from 'vitest';
import { selfSigned } from '../testing/self-signed.ts';
import { beginHandshake, secure } from './secure.ts';
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

test('an authority that is trusted later is trusted by what begins later', async () => {
  const own = selfSigned();
  const server = createTlsServer(own).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const trust = new Trust();
  const shakeHands = async () => {
    const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(stream, 'connect');
    const secured = await secure(stream, '127.0.0.1', trust, CODES, AbortSignal.timeout(5000));
    secured.destroy();
  };
  await expect(shakeHands()).rejects.toMatchObject({ code: 'origin-tls-failed' });
  trust.renew([own.cert]);
  await expect(shakeHands()).resolves.toBeUndefined();
  trust.renew([]);
  await expect(shakeHands()).rejects.toMatchObject({ code: 'origin-tls-failed' });
  server.close();
});

test('a handshake that began before its connection checks the certificate and leaves no connection where it is wrong', async () => {
  const own = selfSigned();
  const server = createTlsServer(own, (socket) => socket.end('hello')).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  const goOn = async (trust: Trust) => {
    const handshake = beginHandshake('127.0.0.1', trust, CODES, AbortSignal.timeout(5000));
    const firstFlight = await handshake.firstFlight;
    const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(stream, 'connect');
    stream.write(firstFlight);
    return { stream, finished: handshake.finish(stream) };
  };
  const trusting = await goOn(new Trust([own.cert]));
  const secured = await trusting.finished;
  expect(String((await once(secured, 'data'))[0])).toBe('hello');
  const refusing = await goOn(new Trust());
  await expect(refusing.finished).rejects.toMatchObject({ code: 'origin-tls-failed' });
  expect(refusing.stream.destroyed).toBe(true);
  server.close();
});
