import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testEndings } from '../testing/test-endings.ts';
import { beginHandshake, secure } from './secure.ts';
import { Trust } from './trust.ts';

const CODES = {
  refused: 'origin-tls-failed',
  broken: 'origin-unreachable',
  timeout: 'origin-timeout',
} as const;

describe.each(await testEndings())('a handshake by %s', (_, ending) => {
  const opened: (Server | Socket)[] = [];
  afterEach(() => {
    for (const one of opened.splice(0)) {
      if ('destroy' in one) one.destroy();
      else one.close();
    }
  });
  async function streamTo(server: Server): Promise<Socket> {
    opened.push(server.listen(0, '127.0.0.1'));
    server.on('connection', (socket) => socket.on('error', () => {}));
    if (!server.listening) await once(server, 'listening');
    const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
    opened.push(stream);
    await once(stream, 'connect');
    return stream;
  }
  const shake = (stream: Socket, host: string, trust: Trust, signal = AbortSignal.timeout(5000)) =>
    secure(stream, host, trust, CODES, signal);

  test('that nobody wants any more is not begun, and leaves no connection', async () => {
    // The peer never says a word.
    const stream = await streamTo(createServer());
    // Given up in the very turn in which the connection stood.
    const trust = new Trust([], ending);
    const context = vi.spyOn(trust, 'context', 'get');
    const handshake = shake(stream, 'localhost', trust, AbortSignal.abort());
    await expect(handshake).rejects.toMatchObject({ code: 'origin-timeout' });
    expect(stream.destroyed).toBe(true);
    // Making one costs more than all else.
    expect(context).not.toHaveBeenCalled();
  });

  test('that is given up on the way leaves no connection', async () => {
    const given = new AbortController();
    const server = createServer();
    const [peer, stream] = await Promise.all([once(server, 'connection'), streamTo(server)]);
    const handshake = shake(stream, 'localhost', new Trust([], ending), given.signal);
    const [silent] = peer as [Socket];
    await once(silent, 'data');
    given.abort();
    await expect(handshake).rejects.toMatchObject({ code: 'origin-timeout' });
    await once(silent.resume(), 'close');
  });

  test('trusts an authority from the moment on at which it is trusted', async () => {
    const own = selfSigned();
    const server = createTlsServer(own);
    opened.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const trust = new Trust([], ending);
    const shakeHands = async () => {
      const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
      await once(stream, 'connect');
      (await shake(stream, '127.0.0.1', trust)).destroy();
    };
    await expect(shakeHands()).rejects.toMatchObject({ code: 'origin-tls-failed' });
    trust.renew([own.cert]);
    await expect(shakeHands()).resolves.toBeUndefined();
    trust.renew([]);
    await expect(shakeHands()).rejects.toMatchObject({ code: 'origin-tls-failed' });
  });

  test.each(['origin.example', '127.0.0.2'])(
    'refuses the certificate of somebody else than %s',
    async (host) => {
      const own = selfSigned();
      const stream = await streamTo(createTlsServer(own));
      const handshake = shake(stream, host, new Trust([own.cert], ending));
      await expect(handshake).rejects.toMatchObject({ code: 'origin-tls-failed' });
      expect(stream.destroyed).toBe(true);
    },
  );

  test('asks for the name', async () => {
    const own = selfSigned();
    const asked: string[] = [];
    const SNICallback = (name: string, done: (failure: null) => void) => {
      asked.push(name);
      done(null);
    };
    const stream = await streamTo(createTlsServer({ ...own, SNICallback }));
    await expect(shake(stream, 'origin.example', new Trust([own.cert], ending))).rejects.toMatchObject({
      code: 'origin-tls-failed',
    });
    expect(asked).toEqual(['origin.example']);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('agrees on HTTP/1.1 over %s', async (version) => {
    const own = selfSigned();
    const server = createTlsServer({ ...own, ALPNProtocols: ['h2', 'http/1.1'], maxVersion: version });
    const agreed = once(server, 'secureConnection');
    await shake(await streamTo(server), '127.0.0.1', new Trust([own.cert], ending));
    const [socket] = (await agreed) as [TLSSocket];
    expect([socket.alpnProtocol, socket.getProtocol()]).toEqual(['http/1.1', version]);
  });

  test('with a peer that goes away, or speaks no TLS, says which', async () => {
    const leaves = createServer((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    const trust = new Trust([], ending);
    await expect(shake(await streamTo(leaves), '127.0.0.1', trust)).rejects.toMatchObject({
      code: 'origin-unreachable',
    });
    const speaksHttp = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(shake(await streamTo(speaksHttp), '127.0.0.1', trust)).rejects.toMatchObject({
      code: 'origin-tls-failed',
    });
  });

  test('goes on inside of another TLS, and as bytes come that were meant for it', async () => {
    const own = selfSigned();
    // Ends TLS twice and says something twice.
    const server = createServer((raw) => {
      raw.on('error', () => {});
      const below = new TLSSocket(raw, { isServer: true, ...own });
      below.on('error', () => {});
      const inside = new TLSSocket(below, { isServer: true, ...own });
      inside.on('error', () => {});
      inside.on('data', (chunk) => inside.write(chunk));
    });
    const trust = new Trust([own.cert], ending);
    const below = await shake(await streamTo(server), '127.0.0.1', trust);
    const inside = await shake(below as Socket, '127.0.0.1', trust);
    inside.write('heard');
    expect(String((await once(inside, 'data'))[0])).toBe('heard');
    inside.destroy();
  });

  test('that began before its connection checks the certificate, and leaves no connection where it is wrong', async () => {
    const own = selfSigned();
    const goOn = async (trust: Trust) => {
      const handshake = beginHandshake('127.0.0.1', trust, CODES, AbortSignal.timeout(5000));
      const firstFlight = await handshake.firstFlight;
      const stream = await streamTo(createTlsServer(own, (socket) => socket.end('hello')));
      stream.write(firstFlight);
      // Node has read some of the answer by then.
      await once(stream, 'readable');
      return { stream, finished: handshake.finish(stream) };
    };
    const trusting = await goOn(new Trust([own.cert], ending));
    const secured = await trusting.finished;
    secured.on('error', () => {});
    expect(String((await once(secured, 'data'))[0])).toBe('hello');
    const refusing = await goOn(new Trust([], ending));
    await expect(refusing.finished).rejects.toMatchObject({ code: 'origin-tls-failed' });
    expect(refusing.stream.destroyed).toBe(true);
  });

  test('says first what makes a handshake, and may be given up before and after', async () => {
    const handshake = beginHandshake('127.0.0.1', new Trust([], ending), CODES, AbortSignal.timeout(5000));
    handshake.abandon();
    const late = beginHandshake('127.0.0.1', new Trust([], ending), CODES, AbortSignal.timeout(5000));
    // Type of a record, RFC 8446 section 5.1; then the version that all have said first since 2001.
    expect([...(await late.firstFlight).subarray(0, 3)]).toEqual([22, 3, 1]);
    late.abandon();
  });
});

test('a handshake that cannot even begin leaves neither a timer nor a connection behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const trust = new Trust();
    vi.spyOn(trust, 'context', 'get').mockImplementation(() => {
      throw new Error('no memory');
    });
    const socket = new Socket();
    const handshake = secure(socket, 'localhost', trust, CODES, new AbortController().signal);
    await expect(handshake).rejects.toMatchObject({ code: CODES.refused, cause: { message: 'no memory' } });
    expect([vi.getTimerCount(), socket.destroyed]).toEqual([0, true]);
  } finally {
    vi.useRealTimers();
  }
});
