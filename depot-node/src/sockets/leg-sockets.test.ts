import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SOCKET, SOCKET_OPTIONS, type SocketOption } from '../kernel/linux-constants.ts';
import { type Kernel, openKernel } from '../kernel/open-kernel.ts';
import { createDial, type DialPurpose } from './dial.ts';
import { descriptorUnder } from './held-descriptor.ts';
import { createLegSockets } from './kernel-leg-sockets.ts';
import { legTableSchema } from './leg-options.ts';
import type { LegSockets, SocketReport } from './leg-sockets.ts';
import { listen } from './listener.ts';

const access = openKernel();
const hasKernel = access.kernel !== undefined;

const toClose: (() => void)[] = [];
afterEach(() => {
  for (const close of toClose.splice(0)) close();
});

function makeSockets(table: object = {}): { sockets: LegSockets; reports: SocketReport[] } {
  const reports: SocketReport[] = [];
  const sockets = createLegSockets(legTableSchema.parse(table), access, (report) => reports.push(report));
  return { sockets, reports };
}

function dialThrough(sockets: LegSockets, addresses = ['127.0.0.1'], connectTimeoutMs = 2000) {
  const dial = createDial({
    resolve: async () => addresses,
    policy: {
      ports: [],
      allow: [{ network: '127.0.0.1/32', ports: [1] }],
      overlayNetworks: ['127.0.0.1/32', '::1/128'],
    },
    isOverlayAddress: () => false,
    connectTimeoutMs,
    sockets,
  });
  return (port: number, purpose: DialPurpose = 'depot', signal = new AbortController().signal) =>
    dial({ purpose, host: 'depot.test', port }, signal);
}

async function plainServer(host = '127.0.0.1'): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  server.listen(0, host);
  await once(server, 'listening');
  toClose.push(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

function kernelOf(): Kernel {
  if (!access.kernel) throw new Error(access.reason);
  return access.kernel;
}

function numberOf(socket: Socket, option: SocketOption): number | undefined {
  return kernelOf().readNumber(descriptorUnder(socket) ?? -1, option);
}

function controlOf(socket: Socket): string | undefined {
  return kernelOf().readText(descriptorUnder(socket) ?? -1, SOCKET_OPTIONS.congestion);
}

const descriptors = () => readdirSync('/proc/self/fd').length;

test.skipIf(!hasKernel)(
  'a crowd that waits for a listener is taken at once, and not one in each turn',
  async () => {
    const server = createHttpServer((_, response) => response.end('served'));
    toClose.push(() => server.close());
    const { port } = await listen(server, '127.0.0.1', 0, makeSockets().sockets);
    let turn = 0;
    const turns: number[] = [];
    server.on('connection', () => turns.push(turn));
    // Their connections stand before this turn is over.
    const crowd = Array.from({ length: 40 }, () => connect({ port, host: '127.0.0.1' }));
    toClose.push(() => {
      for (const socket of crowd) socket.destroy();
    });
    const answers = crowd.map(async (socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      return text(socket);
    });
    while (turns.length < crowd.length) {
      await new Promise(setImmediate);
      turn += 1;
    }
    for (const answer of await Promise.all(answers)) expect(answer).toContain('served');
    // Some may have come while others were taken.
    expect(new Set(turns).size).toBeLessThan(crowd.length / 4);
  },
);

test('without calls of the kernel connections work with what Node has, and that is told once', async () => {
  const reports: SocketReport[] = [];
  const none = openKernel('win32');
  const sockets = createLegSockets(legTableSchema.parse({}), none, (report) => reports.push(report));
  const { port } = await plainServer();
  const { socket } = await dialThrough(sockets)(port);
  toClose.push(() => socket.destroy());
  expect(socket.allowHalfOpen).toBe(true);
  expect(sockets.bind('127.0.0.1', 0)).toBeUndefined();
  expect(reports).toEqual([{ what: 'options-unavailable', reason: 'win32 is not Linux' }]);
});

describe.runIf(hasKernel)('sockets tuned through the kernel (Linux with koffi)', () => {
  test.each(['127.0.0.1', '::1'])('a dialled connection to %s has the options of its class', async (host) => {
    const { sockets } = makeSockets({
      depot: { congestionControl: 'reno', notSentLowatBytes: 300_000, maxPacingBps: 8_000_000_000 },
      origin: { userTimeoutSeconds: 7.5, keepAliveSeconds: 11, noDelay: false },
    });
    const { port } = await plainServer(host);
    const toDepot = sockets.connect('depot', host, port);
    const toOrigin = sockets.connect('origin', host, port);
    toClose.push(
      () => toDepot.destroy(),
      () => toOrigin.destroy(),
    );
    await Promise.all([once(toDepot, 'connect'), once(toOrigin, 'connect')]);
    expect(toDepot.remoteAddress).toBe(host);
    expect(controlOf(toDepot)).toBe('reno');
    expect(numberOf(toDepot, SOCKET_OPTIONS.notSentLowat)).toBe(300_000);
    expect(numberOf(toDepot, SOCKET_OPTIONS.noDelay)).not.toBe(0);
    expect(numberOf(toDepot, SOCKET_OPTIONS.userTimeout)).toBe(0);
    expect(numberOf(toOrigin, SOCKET_OPTIONS.userTimeout)).toBe(7500);
    expect(numberOf(toOrigin, SOCKET_OPTIONS.keepIdle)).toBe(11);
    expect(numberOf(toOrigin, SOCKET_OPTIONS.noDelay)).toBe(0);
  });

  test('accepted connections have the options of clients, and those of depots once that is proved', async () => {
    const { sockets } = makeSockets({
      client: { congestionControl: 'reno', notSentLowatBytes: 200_000, sendBufferBytes: 100_000 },
      depot: { congestionControl: 'system', notSentLowatBytes: 0 },
    });
    const server = createHttpServer();
    toClose.push(() => server.close());
    const { port } = await listen(server, '127.0.0.1', 0, sockets);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const { socket } = await dialThrough(sockets)(port);
    const [inner] = await accepted;
    toClose.push(
      () => socket.destroy(),
      () => inner.destroy(),
    );
    expect(controlOf(inner)).toBe('reno');
    expect(numberOf(inner, SOCKET_OPTIONS.notSentLowat)).toBe(200_000);
    expect(numberOf(inner, SOCKET_OPTIONS.sendBuffer)).toBe(200_000);
    expect(numberOf(inner, SOCKET_OPTIONS.keepIdle)).toBe(30);
    sockets.reclassify(inner, 'depot');
    expect(controlOf(inner)).toBe(controlOf(socket));
    expect(numberOf(inner, SOCKET_OPTIONS.notSentLowat)).toBe(0);
    expect(numberOf(inner, SOCKET_OPTIONS.bufferLock)).toBe(0);
  });

  test.each([
    ['::', ['127.0.0.1', '::1']],
    ['::1', ['::1']],
    ['127.0.0.1', ['127.0.0.1']],
  ])('listens on %s for %j', async (host, reachable) => {
    const { sockets } = makeSockets();
    const server = createHttpServer((_request, response) => response.end('ok'));
    const { port, address } = await listen(server, host, 0, sockets);
    toClose.push(() => server.close());
    expect(address).toBe(host);
    for (const target of reachable) {
      const authority = target.includes(':') ? `[${target}]` : target;
      const answer = await fetch(`http://${authority}:${port}/`, { headers: { connection: 'close' } });
      expect(await answer.text()).toBe('ok');
    }
  });

  test('a port that is taken is refused with the code and message people know', async () => {
    const { sockets } = makeSockets();
    const { port } = await plainServer();
    const before = descriptors();
    await expect(listen(createHttpServer(), '127.0.0.1', port, sockets)).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('a congestion control that the kernel lacks leaves its own in place, and is told once', async () => {
    const { sockets, reports } = makeSockets({
      client: { congestionControl: 'nosuch' },
      depot: { congestionControl: 'nosuch' },
    });
    const { port } = await plainServer();
    const { socket } = await dialThrough(sockets)(port);
    toClose.push(() => socket.destroy());
    const used = controlOf(socket);
    expect(used).toMatch(/^[a-z]+$/);
    expect(reports).toEqual([
      { what: 'congestion-control-refused', name: 'nosuch', used, reason: 'the kernel does not offer it' },
    ]);
  });

  test('multipath is counted as such where both ends speak it, and as a fallback where one does not', async ({
    skip,
  }) => {
    const { sockets, reports } = makeSockets({ depot: { mptcp: true, congestionControl: 'system' } });
    if (reports.some(({ what }) => what === 'mptcp-unavailable')) skip('this kernel has no multipath TCP');
    const server = createHttpServer();
    const { port } = await listen(server, '127.0.0.1', 0, sockets);
    toClose.push(() => server.close());
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const dial = dialThrough(sockets);
    const multipath = await dial(port);
    const [inner] = await accepted;
    expect(sockets.mptcp).toEqual({ established: 1, fallbacks: 0 });
    expect(numberOf(inner, SOCKET_OPTIONS.notSentLowat)).toBe(524_288);
    const plain = await dial((await plainServer()).port);
    expect(sockets.mptcp).toEqual({ established: 1, fallbacks: 1 });
    const origin = sockets.connect('origin', '127.0.0.1', port);
    await once(origin, 'connect');
    expect(kernelOf().hasOption(descriptorUnder(origin) ?? -1, SOCKET_OPTIONS.mptcpInfo)).toBe(false);
    for (const socket of [multipath.socket, plain.socket, inner, origin]) socket.destroy();
  });

  test('a kernel without IPv6 refuses its addresses, and still has multipath connections by IPv4', async () => {
    const asked: [family: number, protocol: number][] = [];
    const kernel = kernelOf();
    const { EAFNOSUPPORT } = constants.errno;
    const withoutIpv6: Kernel = {
      ...kernel,
      openSocket: (family, protocol) => {
        asked.push([family, protocol]);
        // Whether this one has multipath TCP does not matter.
        return family === 6 ? -EAFNOSUPPORT : kernel.openSocket(family, SOCKET.tcp);
      },
    };
    const reports: SocketReport[] = [];
    const table = legTableSchema.parse({ depot: { mptcp: true, congestionControl: 'system' } });
    const sockets = createLegSockets(table, { kernel: withoutIpv6 }, (report) => reports.push(report));
    expect(() => sockets.connect('depot', '::1', 1)).toThrow('EAFNOSUPPORT');
    const { port } = await plainServer();
    asked.length = 0;
    const socket = sockets.connect('depot', '127.0.0.1', port);
    toClose.push(() => socket.destroy());
    await once(socket, 'connect');
    expect(asked).toEqual([[4, SOCKET.mptcp]]);
    expect(reports).toEqual([]);
  });

  test('dials that fail, are aborted or are ended at once leave no descriptor behind', async () => {
    const { sockets } = makeSockets();
    const { port } = await plainServer();
    const before = descriptors();
    const dial = dialThrough(sockets);
    const connect = sockets.connect.bind(sockets);
    for (let index = 0; index < 10; index += 1) {
      await expect(dial(1)).rejects.toMatchObject({ code: 'next-depot-unreachable' });
      await expect(dial(port, 'depot', AbortSignal.abort())).rejects.toThrow('aborted');
      const abort = new AbortController();
      const spy = vi.spyOn(sockets, 'connect').mockImplementation((...target) => {
        queueMicrotask(() => abort.abort(new Error('nobody wants it any more')));
        return connect(...target);
      });
      await expect(dial(port, 'depot', abort.signal)).rejects.toThrow('nobody wants it any more');
      spy.mockRestore();
      const { socket } = await dial(port);
      socket.destroy();
    }
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('a connection that cannot even begin is closed again', async () => {
    const { sockets } = makeSockets();
    const before = descriptors();
    expect(() => sockets.connect('origin', '127.0.0.1', 70_000)).toThrow('70000');
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });

  test('half-closing a tuned connection leaves the other direction open', async () => {
    const { sockets } = makeSockets();
    const server = createServer({ allowHalfOpen: true }, (peer) => {
      peer.resume();
      peer.once('end', () => peer.end('still here'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    toClose.push(() => server.close());
    const { socket } = await dialThrough(sockets)((server.address() as AddressInfo).port);
    socket.end();
    const chunks: string[] = [];
    for await (const chunk of socket.setEncoding('utf8')) chunks.push(String(chunk));
    expect(chunks.join('')).toBe('still here');
    socket.destroy();
  });
});

test.skipIf(!hasKernel)('a busy event loop does not lengthen the round trip of a connection', async () => {
  const { port } = await plainServer();
  const dialling = dialThrough(makeSockets().sockets)(port);
  // The connection begins in a turn of its own, and stands while nobody can hear of it.
  await new Promise((resolve) => setImmediate(resolve));
  const busyUntilMs = performance.now() + 100;
  while (performance.now() < busyUntilMs);
  const { socket, rttMs } = await dialling;
  toClose.push(() => socket.destroy());
  expect(rttMs).toBeGreaterThan(0);
  expect(rttMs).toBeLessThan(50);
});
