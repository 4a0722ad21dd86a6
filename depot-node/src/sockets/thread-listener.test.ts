import { once } from 'node:events';
import type { Server } from 'node:http';
import { request } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import {
  ConnectionLimiter,
  type ConnectionLimits,
  type RefusedConnection,
  selfSigned,
} from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { countDescriptors } from '../relay/promises/suite-connections.ts';
import type { FlowCommand, RelayThread } from '../relay/relay-thread.ts';
import { type RelayThreads, startRelayThreads } from '../relay/relay-threads.ts';
import { createTlsPlane, type TlsPlane } from '../relay/tls-plane.ts';
import type { SharedCounts } from '../tls/shared-counts.ts';
import { KeptConnections } from './kept-connections.ts';
import { createLegSockets } from './kernel-leg-sockets.ts';
import { DEFAULT_LEG_TABLE } from './leg-options.ts';
import { createListener, listen } from './listener.ts';
import { ListenerCertificate } from './listener-certificate.ts';

const access = openKernel();
const { kernel } = access;
const first = selfSigned();
const ASKED = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const [HERE, TRUSTED] = ['127.0.0.1', '127.0.3.7'] as const;

describe.skipIf(!kernel)('a listener whose connections relay threads take', () => {
  let threads: RelayThreads;
  let tls: TlsPlane;
  let server: Server;
  let kept: KeptConnections;
  let certificate: ListenerCertificate;
  let counts: SharedCounts;
  let limiter: ConnectionLimiter;
  let refused: RefusedConnection[];
  let port: number;
  const sockets: Socket[] = [];

  async function start(restartAfterMs?: number): Promise<void> {
    if (!kernel) return;
    const pause = restartAfterMs !== undefined && { restartAfterMs };
    threads = await startRelayThreads({
      kernel,
      count: 2,
      endsTls: true,
      onCrash: () => undefined,
      ...pause,
    });
    tls = createTlsPlane({ kernel, threads, nowMs: () => performance.now() });
  }
  /** What no thread survives. */
  const crash = (thread: RelayThread | undefined) =>
    new Promise((resolve) => {
      const bad = { type: 'tunnel', downstream: kernel?.duplicate(0), upstream: 1_000_000 };
      const listener = { onProgress: () => undefined, onFinished: resolve };
      thread?.start(bad as unknown as FlowCommand, listener);
    });
  beforeEach(() => start());
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await kept.close();
    await threads.close();
  });

  async function serve(limits: Partial<ConnectionLimits> = {}): Promise<void> {
    refused = [];
    certificate = new ListenerCertificate(first, tls);
    counts = tls.makeCounts();
    limiter = new ConnectionLimiter({
      limits: {
        most: 1000,
        reserved: 0,
        perNetwork: 1000,
        waitingPerNetwork: 1000,
        unusedPerNetwork: 10_000,
        ...limits,
      },
      isTrusted: (address) => address === TRUSTED,
      onRefused: (one) => refused.push(one),
      elsewhere: counts,
    });
    server = createListener((asked, answer) => asked.pipe(answer), certificate);
    limiter.guard(server);
    kept = new KeptConnections(server);
    const legs = createLegSockets(DEFAULT_LEG_TABLE, access, () => undefined);
    ({ port } = await listen(server, HERE, 0, legs, { certificate, limiter, counts }));
  }
  function keep<Kept extends Socket>(socket: Kept): Kept {
    sockets.push(socket);
    socket.on('error', () => undefined);
    return socket;
  }
  const dial = (from: string = HERE) => keep(connectTcp({ port, host: HERE, localAddress: from }));
  const dialTls = (options: ConnectionOptions = {}) =>
    keep(connect({ port, host: HERE, rejectUnauthorized: false, ...options }));
  /** The head of an answer, or nothing where the connection was closed. */
  async function ask(socket: TLSSocket): Promise<string> {
    socket.write(ASKED);
    const [bytes] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    return bytes instanceof Buffer ? bytes.toString('latin1', 0, 15) : '';
  }
  async function isQuiet(): Promise<void> {
    await expect.poll(() => [counts.all(), limiter.open]).toEqual([0, 0]);
  }

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'answers requests over %s, and resumes sessions in all threads',
    async (version) => {
      await serve();
      // Node itself takes nothing.
      expect(server.listening).toBe(false);
      const options = { minVersion: version, maxVersion: version, servername: 'of.nobody' } as const;
      const one = dialTls(options);
      const given = once(one, 'session') as Promise<[Buffer]>;
      expect(await ask(one)).toBe('HTTP/1.1 200 OK');
      const [session] = await given;
      for (let round = 0; round < 8; round += 1) {
        const next = dialTls({
          ...options,
          session,
          servername: 'of.nobody',
          ALPNProtocols: ['h2', 'http/1.1'],
        });
        expect(await ask(next)).toBe('HTTP/1.1 200 OK');
        expect(next.isSessionReused()).toBe(true);
      }
      expect(tls.use().handshakes.filter(({ role }) => role === 'server')).toEqual([
        { role: 'server', isResumed: false, count: 1 },
        { role: 'server', isResumed: true, count: 8 },
      ]);
      expect(limiter.open).toBe(9);
      expect(threads.running().every((flows) => flows > 1)).toBe(true);
    },
  );

  test('the main thread hears of a connection only when its first request comes', async () => {
    await serve();
    let seen = 0;
    server.on('connection', () => {
      seen += 1;
    });
    const leaving = Array.from({ length: 20 }, () => dialTls());
    await Promise.all(leaving.map((socket) => once(socket, 'secureConnect')));
    await expect.poll(() => counts.all()).toBe(20);
    expect(limiter.open).toBe(20);
    for (const socket of leaving) socket.destroy();
    await isQuiet();
    expect(seen).toBe(0);
    expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
    expect(seen).toBe(1);
  });

  test('who waits too much is closed and told of, and who is trusted has a place of his own', async () => {
    await serve({ waitingPerNetwork: 2 });
    const waiting = [dial(), dial()];
    await expect.poll(() => counts.all()).toBe(2);
    const third = dial();
    await once(third.resume(), 'close');
    expect(refused).toEqual([{ bound: 'network-waiting', network: '127.0.0.0/24' }]);
    // Of another network, within the bounds, and past them.
    for (let count = 0; count < 4; count += 1) {
      const raw = dial(TRUSTED);
      expect(await ask(dialTls({ socket: raw }))).toBe('HTTP/1.1 200 OK');
    }
    for (const socket of waiting) socket.destroy();
    await expect.poll(() => counts.all()).toBe(0);
    expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
    expect(refused.length).toBe(1);
  });

  test('who comes and leaves without a request is closed after so many and told of, and others and who is trusted are served', async () => {
    await serve({ unusedPerNetwork: 2 });
    // All at once, so that more end than may.
    const raw = Array.from({ length: 6 }, () => dial());
    await expect.poll(() => counts.all()).toBe(6);
    // Half of them are refused their handshake, and half say nothing behind it.
    const leaving = raw.map((socket, index) =>
      dialTls({ socket, ...(index % 2 === 0 && { ecdhCurve: 'P-521' }) }),
    );
    await Promise.all(
      leaving.map((socket, index) =>
        index % 2 === 0
          ? new Promise((resolve) => socket.once('close', resolve))
          : once(socket, 'secureConnect'),
      ),
    );
    for (const socket of leaving) socket.destroy();
    await isQuiet();
    expect(refused).toEqual([]);
    await once(dial().resume(), 'close');
    expect(refused).toEqual([{ bound: 'network-unused', network: '127.0.0.0/24' }]);
    for (const from of ['127.0.1.1', TRUSTED, TRUSTED])
      expect(await ask(dialTls({ socket: dial(from) }))).toBe('HTTP/1.1 200 OK');
    // Those that ask are none.
    for (let round = 0; round < 5; round += 1) {
      const asking = dialTls({ socket: dial('127.0.1.1') });
      expect(await ask(asking)).toBe('HTTP/1.1 200 OK');
      asking.destroy();
    }
    await expect.poll(() => limiter.open).toBe(3);
    expect(await ask(dialTls({ socket: dial('127.0.1.1') }))).toBe('HTTP/1.1 200 OK');
  });

  test('a bound holds for what threads and Node have together', async () => {
    await serve({ perNetwork: 3 });
    expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
    expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
    dial();
    await expect.poll(() => limiter.open).toBe(3);
    await once(dial().resume(), 'close');
    expect(refused).toEqual([{ bound: 'network', network: '127.0.0.0/24' }]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'answers by the certificate of the name that is asked for over %s, and by its own for all others',
    async (version) => {
      await serve();
      const group = selfSigned();
      const versions = { minVersion: version, maxVersion: version } as const;
      const seenBy = async (servername?: string, session?: Buffer) => {
        const socket = dialTls({
          ...versions,
          ...(servername ? { servername } : {}),
          ...(session ? { session } : {}),
        });
        const given = once(socket, 'session') as Promise<[Buffer]>;
        expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
        const pem = socket.getPeerX509Certificate()?.toString().trim();
        return {
          pem,
          isReused: socket.isSessionReused(),
          session: socket.isSessionReused() ? undefined : (await given)[0],
        };
      };
      // The threads hear of a renewal a moment later.
      const becomes = async ({ cert }: { readonly cert: string }) => {
        await expect.poll(async () => (await seenBy('south.example')).pem).toBe(cert.trim());
      };
      certificate.renew({ ...first, named: [{ host: 'south.example', ...group }] });
      await becomes(group);
      for (let round = 0; round < 8; round += 1) {
        expect((await seenBy('south.example')).pem).toBe(group.cert.trim());
        expect((await seenBy('SOUTH.example')).pem).toBe(group.cert.trim());
        expect((await seenBy('of.nobody')).pem).toBe(first.cert.trim());
        expect((await seenBy()).pem).toBe(first.cert.trim());
      }
      const { session } = await seenBy('south.example');
      expect((await seenBy('south.example', session)).isReused).toBe(true);
      const next = selfSigned();
      certificate.renew({ ...first, named: [{ host: 'south.example', ...next }] });
      await becomes(next);
      certificate.renew(first);
      await becomes(first);
    },
  );

  test('a renewed certificate refuses no handshake, and what stands goes on', async () => {
    await serve();
    const standing = request({ host: HERE, port, method: 'POST', agent: false, rejectUnauthorized: false });
    standing.write('before, ');
    const [answer] = (await once(standing, 'response')) as [NodeJS.ReadableStream];
    // It says nothing until the certificate that it was taken with is long forgotten.
    const half = dial();
    await once(half, 'connect');
    const serials = new Set<string>();
    let renewals = 0;
    let last = first;
    const shake = async () => {
      for (let round = 0; round < 12; round += 1) {
        const socket = dialTls();
        expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
        serials.add(socket.getPeerCertificate().raw.toString('base64'));
        socket.destroy();
        if (round % 3 === 0) {
          last = selfSigned();
          certificate.renew(last);
          renewals += 1;
        }
      }
    };
    await Promise.all([shake(), shake(), shake(), shake()]);
    expect(await ask(dialTls({ socket: half, ca: last.cert, rejectUnauthorized: true }))).toBe(
      'HTTP/1.1 200 OK',
    );
    expect(renewals).toBe(16);
    expect(serials.size).toBeGreaterThan(4);
    standing.end('and after');
    expect(await text(answer)).toBe('before, and after');
  });

  test('what the threads cannot use is refused when it is loaded, and the last certificate stays', async () => {
    await serve();
    const other = selfSigned();
    // Node reads this form of a certificate, and the relay threads do not.
    const odd = { ...other, cert: other.cert.replaceAll(' CERTIFICATE', ' TRUSTED CERTIFICATE') };
    expect(() => new ListenerCertificate(odd)).not.toThrow();
    expect(() => certificate.renew(odd)).toThrow(expect.objectContaining({ code: 'config-invalid' }));
    expect(() => new ListenerCertificate(odd, tls)).toThrow('set relay.tls to node');
    const socket = dialTls({ ca: first.cert, rejectUnauthorized: true });
    expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
    expect(threads.running().length).toBe(2);
  });

  test('a ClientHello in pieces of one byte is a ClientHello', async () => {
    await serve();
    const through = createTcpServer((near) => {
      const far = keep(connectTcp({ port, host: HERE, noDelay: true }));
      far.pipe(keep(near));
      near.on('data', (bytes: Buffer) => {
        for (const byte of bytes) far.write(Buffer.of(byte));
      });
    });
    through.listen(0, HERE);
    await once(through, 'listening');
    const at = through.address();
    const socket = dialTls({ port: typeof at === 'object' && at ? at.port : 0 });
    expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
    socket.destroy();
    through.close();
  });

  test('nonsense, halves and early ends by the hundred leave neither descriptor nor count, and hold nobody up', async () => {
    await serve();
    expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
    for (const socket of sockets.splice(0)) socket.destroy();
    await isQuiet();
    const before = countDescriptors();
    for (let round = 0; round < 5; round += 1) {
      const silent = Array.from({ length: 100 }, () => dial());
      await Promise.all(silent.map((socket) => once(socket, 'connect')));
      for (const [index, socket] of silent.entries()) {
        if (index % 4 === 0) socket.resetAndDestroy();
        else if (index % 4 === 1) socket.write('GET / HTTP/1.1\r\n\r\n');
        // The head of a record that never comes whole.
        else if (index % 4 === 2) socket.write(Buffer.of(22, 3, 1, 2, 0, 1));
        else socket.end();
      }
      expect(await ask(dialTls())).toBe('HTTP/1.1 200 OK');
      for (const socket of sockets.splice(0)) socket.destroy();
    }
    await isQuiet();
    await expect.poll(countDescriptors).toBeLessThanOrEqual(before);
    await expect.poll(() => threads.running()).toEqual([1, 1]);
  });

  test('a listener that closes takes nothing more and drops what has not come to a request', async () => {
    await serve();
    const waiting = dial();
    const shaken = dialTls();
    await once(shaken, 'secureConnect');
    await expect.poll(() => counts.all()).toBe(2);
    const ends = [waiting, shaken].map(
      (socket) => new Promise((resolve) => socket.resume().once('close', resolve)),
    );
    await kept.close();
    await Promise.all(ends);
    const late = dial();
    const [failure] = (await once(late, 'error')) as [NodeJS.ErrnoException];
    expect(failure.code).toBe('ECONNREFUSED');
    await isQuiet();
    await expect.poll(() => threads.running()).toEqual([0, 0]);
  });

  test('where one thread dies the other takes all, and then Node does', async () => {
    await serve();
    for (let left = 1; left >= 0; left -= 1) {
      await crash(threads.idlest());
      await expect.poll(() => threads.running().length).toBe(left);
      for (let round = 0; round < 4; round += 1) {
        const socket = dialTls();
        expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
        socket.destroy();
      }
    }
    expect(server.listening).toBe(true);
    await isQuiet();
  });

  test('a thread that takes the place of one that died takes connections as that one did', async () => {
    await threads.close();
    await start(0);
    await serve();
    const [first, second] = threads.all;
    const restarted = new Promise((resolve) => threads.onRestart(resolve));
    await crash(first);
    await restarted;
    await crash(second);
    const socket = dialTls();
    expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
    expect(server.listening).toBe(false);
    socket.destroy();
    await isQuiet();
  });
});
