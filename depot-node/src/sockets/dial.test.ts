import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDial, type DialTarget } from './dial.ts';

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function dialWith(addresses: readonly string[], allow = true, connectTimeoutMs = 2000) {
  const dial = createDial({
    resolve: async () => addresses,
    policy: {
      ports: [80, 443],
      allow: allow ? [{ network: '127.0.0.1/32', ports: [port] }] : [],
      overlayNetworks: allow ? ['127.0.0.1/32'] : [],
    },
    isOverlayAddress: (address) => address === '127.0.0.9',
    connectTimeoutMs,
  });
  return (target: Partial<DialTarget> = {}) =>
    dial({ purpose: 'origin', host: 'origin.test', port, ...target }, new AbortController().signal);
}

describe('dialling an origin', () => {
  test('connects where the address is allowed, and tells the round-trip time', async () => {
    const { socket, rttMs } = await dialWith(['127.0.0.1'])();
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect(rttMs).toBeGreaterThan(0);
    socket.destroy();
  });

  test('skips addresses that are not allowed and those that refuse', async () => {
    const { socket } = await dialWith(['10.0.0.1', '127.0.0.9', '127.0.0.1'])();
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test.each([
    ['a private address behind a name', ['192.168.0.1']],
    ['loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['IPv6 beyond global unicast', ['4000::1']],
    ['the overlay itself', ['127.0.0.9']],
  ])('never connects to %s', async (_, addresses) => {
    await expect(dialWith(addresses, false)()).rejects.toMatchObject({
      code: 'address-not-allowed',
      status: 403,
    });
  });

  test('tells a name without address, a refusal and silence apart', async () => {
    await expect(dialWith([])()).rejects.toMatchObject({ code: 'origin-unresolvable' });
    await expect(dialWith(['127.0.0.1'])({ purpose: 'depot', port: 1 })).rejects.toMatchObject({
      code: 'next-depot-unreachable',
    });
    await expect(dialWith(['127.0.0.1'])({ purpose: 'master', port: 1 })).rejects.toMatchObject({
      code: 'master-unreachable',
    });
  });
});

describe('dialling a depot', () => {
  test('connects where the overlay may be, on any port', async () => {
    const { socket } = await dialWith(['127.0.0.1'])({ purpose: 'depot' });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test('connects to the addresses that it has proved, and asks no resolver for others', async () => {
    const { socket } = await dialWith(['127.0.0.9'])({ purpose: 'depot', addresses: ['127.0.0.1'] });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    await expect(
      dialWith(['127.0.0.1'])({ purpose: 'depot', addresses: ['127.0.0.9'] }),
    ).rejects.toMatchObject({ code: 'depot-address-not-allowed' });
  });

  test.each([
    ['a private address behind a name', ['192.168.0.1']],
    ['loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['an address for metadata', ['169.254.169.254']],
  ])('never connects to %s, whatever the directory says', async (_, addresses) => {
    await expect(dialWith(addresses, false)({ purpose: 'depot' })).rejects.toMatchObject({
      code: 'depot-address-not-allowed',
    });
  });
});
