import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { resetConnection } from '../sockets/reset.ts';
import { receive, socketPair } from './promises/socket-pair.ts';
import { countDescriptors, hasArrived } from './promises/suite-connections.ts';
import { tlsPair } from './promises/tls-pair.ts';
import type { FlowCommand } from './relay-thread.ts';
import { type RelayThreads, startRelayThreads } from './relay-threads.ts';
import { spliceBody } from './splice-body.ts';
import type { SessionCommand } from './thread-message.ts';
import { createTlsPlane, type TlsPlane } from './tls-plane.ts';
import type { TlsSide } from './tls-side.ts';

const { kernel } = openKernel();
const DAY_MS = 86_400_000;
const own = selfSigned();

describe.skipIf(!kernel)('TLS that relay threads end', () => {
  let threads: RelayThreads;
  let tls: TlsPlane;
  let now: number;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    if (!kernel) return;
    now = 0;
    threads = await startRelayThreads({ kernel, count: 2, endsTls: true, onCrash: () => undefined });
    tls = createTlsPlane({ kernel, threads, nowMs: () => now });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await threads.close();
  });
  function keep(...made: Socket[]): void {
    sockets.push(...made);
    // Their peers are destroyed without a goodbye when the test is over.
    for (const socket of made) socket.on('error', () => undefined);
  }
  async function pair(role: 'server' | 'client' = 'server'): Promise<[Socket, Socket]> {
    const made = await tlsPair(tls, role);
    keep(...made);
    return made;
  }

  /** A client's handshake with a session that it had, over one of the threads; the session of a later one. */
  async function shake(session: Buffer | undefined, maxVersion: 'TLSv1.2' | 'TLSv1.3') {
    const [outerRaw, innerRaw] = await socketPair();
    const outer: TLSSocket = connect({
      socket: outerRaw,
      ca: own.cert,
      host: '127.0.0.1',
      maxVersion,
      ...(session && { session }),
    });
    keep(outer);
    const next = once(outer, 'session');
    const inner = await tls.accept(innerRaw, own)?.secured;
    keep(inner as Socket);
    inner?.write('x');
    await once(outer, 'data');
    const [made] = session ? [session] : ((await next) as [Buffer]);
    return { isReused: outer.isSessionReused(), session: made };
  }

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resumes sessions of %s in every thread, until their keys are old',
    async (version) => {
      const { session } = await shake(undefined, version);
      for (let round = 0; round < 4; round += 1)
        expect(await shake(session, version)).toMatchObject({ isReused: true });
      expect(threads.running().every((flows) => flows > 0)).toBe(true);
      expect(tls.use().handshakes.find((one) => one.isResumed)?.count).toBe(4);
      now = DAY_MS;
      expect(await shake(session, version)).toMatchObject({ isReused: false });
    },
  );

  test.each(['server', 'client'] as const)(
    'tells an end without a goodbye as a reset, as a %s',
    async (role) => {
      const [outer, inner] = await pair(role);
      const received = receive(inner);
      outer.write('said, but not to its end');
      await received.until(24);
      // The connection below alone.
      const raw = Reflect.get(outer, '_parent') as Socket | null;
      (raw ?? outer).end();
      raw?.destroySoon();
      expect(await received.end).toBe('ECONNRESET');
    },
  );

  test('gives all that came before a goodbye, though a reset comes behind that, to whoever reads late', async () => {
    const [outer, inner] = await pair('client');
    const received = receive(inner);
    // The kernel has room for as much as has lately been read of a connection.
    const read = randomBytes(4_000_000);
    outer.write(read);
    await received.until(read.length);
    inner.pause();
    // More than waits within, and no more than that.
    const sent = randomBytes(320_000);
    outer.end(sent);
    await hasArrived(outer);
    outer.resetAndDestroy();
    inner.resume();
    expect((await received.all()).equals(Buffer.concat([read, sent]))).toBe(true);
  });

  test('a body is moved exactly, also when Node reads more than all of it while its source goes to another thread', async () => {
    const [[origin, source], [client, sink]] = [await pair(), await pair()];
    const real = tls.sideOf(source);
    if (!kernel || !real) throw new Error('nothing ends TLS here');
    const slow = {
      thread: real.thread,
      id: real.id,
      move: async () => {
        await expect.poll(() => source.readableLength).toBe(16);
        return true;
      },
    };
    const sideOf = (stream: Duplex) =>
      stream === source ? (slow as unknown as TlsSide) : tls.sideOf(stream);
    const received = receive(client);
    origin.write('all of it');
    origin.write('nothing');
    const limits = { silenceMs: 60_000, stallMs: 60_000, signal: new AbortController().signal };
    const components = { kernel, threads, tls: { ...tls, sideOf } };
    const before = countDescriptors();
    expect(await spliceBody(components, source, sink, { ...limits, sizeBytes: 9 })).toEqual({
      outcome: 'complete',
      bytes: 9,
    });
    sink.write('!');
    expect((await received.until(10)).toString()).toBe('all of it!');
    expect(source.read()).toEqual(Buffer.from('nothing'));
    expect(countDescriptors()).toBe(before);
  });

  test('sends what was written before a stream is destroyed, without a goodbye, and nothing of one that is reset', async () => {
    const [outer, inner] = await pair();
    const received = receive(outer);
    await new Promise((resolve) => inner.write('written', resolve));
    inner.destroy();
    expect((await received.until(7)).toString()).toBe('written');
    const [reset, innerReset] = await pair();
    const broken = receive(reset);
    resetConnection(innerReset);
    expect(await broken.end).toBe('ECONNRESET');
  });

  test('has the addresses of the connection, and leaves no descriptor behind', async () => {
    const [first] = await pair();
    first.destroy();
    await expect.poll(() => threads.running()).toEqual([0, 0]);
    const before = countDescriptors();
    const made = await Promise.all(Array.from({ length: 40 }, () => pair()));
    for (const [outer, inner] of made) {
      expect([inner.remoteAddress, inner.remotePort]).toEqual(['127.0.0.1', outer.localPort]);
      inner.end('bye');
      outer.resume();
      outer.end();
    }
    // Some never get through their handshake.
    const halves = await Promise.all(Array.from({ length: 20 }, () => socketPair()));
    for (const [outer, inner] of halves) {
      const securing = tls.accept(inner, own);
      outer.on('error', () => {}).end('GET / HTTP/1.1\r\n\r\n');
      await expect(securing?.secured).rejects.toMatchObject({ isBroken: false });
      outer.destroy();
    }
    await expect.poll(() => threads.running()).toEqual([0, 0]);
    await expect.poll(countDescriptors).toBeLessThanOrEqual(before);
  });

  /** Lets a thread die by itself. */
  const crash = (thread = threads.idlest()) =>
    new Promise((resolve) => {
      const bad = { type: 'tunnel', downstream: kernel?.duplicate(0), upstream: 1_000_000 };
      const listener = { onProgress: () => undefined, onFinished: resolve };
      thread?.start(bad as unknown as FlowCommand, listener);
    });

  test.each([
    ['stays where it is where the thread dies that it is on its way to', 1],
    ['is reset where that dies, and the one that it comes from', 2],
  ])('%s', async (_what, deaths) => {
    const [outer, inner] = await pair();
    const received = receive(outer);
    const side = tls.sideOf(inner);
    const to = threads.all.find((thread) => thread !== side?.thread);
    if (!side || !to) throw new Error('nothing ends TLS here');
    const from = side.thread;
    const { tell } = from;
    const giveAway = new Promise<() => void>((resolve) => {
      Object.assign(from, { tell: (command: SessionCommand) => resolve(() => tell(command)) });
    });
    const move = side.move(to);
    const goOn = await giveAway;
    Object.assign(from, { tell });
    await crash(to);
    goOn();
    if (deaths > 1) await crash(from);
    expect(await move).toBe(false);
    if (deaths > 1) {
      expect(await received.end).toBe('ECONNRESET');
      return;
    }
    inner.write('still here');
    expect((await received.until(10)).toString()).toBe('still here');
  });

  test('is reset where a thread dies, and taken by the others, then by nobody', async () => {
    const made = await Promise.all([pair(), pair()]);
    const ends = made.map(([outer]) => receive(outer).end);
    await crash();
    expect(await Promise.race(ends)).toBe('ECONNRESET');
    await pair();
    await crash();
    expect(await Promise.all(ends)).toEqual(['ECONNRESET', 'ECONNRESET']);
    await expect.poll(() => tls.use().isAlive).toBe(false);
    const [, raw] = await socketPair();
    keep(raw);
    expect(tls.accept(raw, own)).toBeUndefined();
  });
});
