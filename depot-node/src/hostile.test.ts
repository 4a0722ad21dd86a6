import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer, get as getSecurely } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { HEADERS } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { OverlayAddresses } from './directory/overlay-addresses.ts';
import type { SplicePlane } from './relay/splice-plane.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { listenAnywhere } from './testing/saboteur.ts';
import { testPlanes } from './testing/test-planes.ts';
import { unstalledMs } from './testing/unstalled-clock.ts';

const PLANES = await testPlanes();
const UNFRAMED = 'HTTP/1.1 200 OK\r\n\r\nall of it';

/** What the origin sends for a path, byte by byte; the connection then ends as the path's name says. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/switch-fin': 'HTTP/1.1 101 Switching\r\n\r\n',
  '/zero-fin': 'HTTP/1.1 099 Odd\r\n\r\n',
  '/coded-fin': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  '/huge-reset': 'HTTP/1.1 200 OK\r\nContent-Length: 9007199254740993\r\n\r\nx',
  '/unframed-reset': 'HTTP/1.1 200 OK\r\n\r\npart of it',
  '/unframed-fin': UNFRAMED,
  '/tls-short-fin': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort',
  '/chunk-short-fin': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n',
};

let overlay: TestOverlay;
beforeEach(async () => {
  overlay = await startTestOverlay(['d1', 'd2'], (request, response) => {
    const path = request.url ?? '';
    const answer = ANSWERS[path];
    if (path === '/resting') {
      response.writeHead(200, { 'Content-Length': 100 }).write('begun');
      return;
    }
    if (answer === undefined) {
      response.end('hello');
      return;
    }
    request.socket.write(answer, () => {
      if (path.endsWith('-reset')) request.socket.resetAndDestroy();
      else request.socket.end();
    });
  });
});
afterEach(() => overlay.close());

const fetchPath = (path: string, chains = [['d1', 'd2']]) =>
  fetchRaw(overlay.relayUrl(`${overlay.originUrl}${path}`, { chains }));

describe('a hostile origin', () => {
  test.each(['/switch-fin', '/zero-fin', '/coded-fin', '/huge-reset'])(
    'that answers %s is refused',
    async (path) => {
      const answer = await fetchPath(path);
      expect(answer).toMatchObject({ status: 502, headers: { [HEADERS.error]: 'origin-bad-answer' } });
    },
  );

  test.each(['/unframed-reset', '/tls-short-fin', '/chunk-short-fin'])(
    'that breaks off (%s) never leaves a file that looks whole',
    async (path) => {
      for (const chains of [[['d1']], [['d1', 'd2']]]) {
        expect((await fetchPath(path, chains)).broken).toBe('ECONNRESET');
      }
    },
  );

  test('whose body ends with the connection is fetched without depots between, whose death would look the same', async () => {
    const answer = await fetchPath('/unframed-fin');
    expect(answer).toMatchObject({ status: 200, broken: undefined });
    expect(answer.body.toString()).toBe('all of it');
    await expect
      .poll(() => overlay.depot('d1').events.at(-1))
      .toMatchObject({ type: 'transfer', chain: ['d1'], outcome: 'complete' });
  });

  test('whose body ends with the connection makes it once from then on, and comes through depots again where it is framed', async () => {
    const chainOf = async (path: string) => {
      overlay.originRequests.length = 0;
      overlay.depot('d1').events.length = 0;
      expect((await fetchPath(path)).broken).toBeUndefined();
      const ended = () => overlay.depot('d1').events.find(({ type }) => type === 'transfer');
      await expect.poll(ended).toMatchObject({ outcome: 'complete' });
      const transfer = ended();
      return [overlay.originRequests.length, transfer?.type === 'transfer' && transfer.chain];
    };
    expect(await chainOf('/unframed-fin')).toEqual([2, ['d1']]);
    expect(await chainOf('/unframed-fin')).toEqual([1, ['d1']]);
    expect((await fetchPath('/unframed-reset')).broken).toBe('ECONNRESET');
    expect(await chainOf('/framed')).toEqual([1, ['d1']]);
    expect(await chainOf('/framed')).toEqual([1, ['d1', 'd2']]);
  });

  test.each(PLANES)(
    'whose body over TLS ends with the connection is left to clients where a depot, by %s, cannot tell a cut',
    async (plane, splice) => {
      const material = selfSigned();
      const secure = createHttpsServer(material, ({ socket }) => socket.end(UNFRAMED));
      const port = await listenAnywhere(secure);
      const tls = await startTestOverlay([], () => {}, splice, {
        trusted: [material.cert],
        config: { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } },
      });
      await tls.addDepot('d1');
      const url = `https://127.0.0.1:${port}/file`;
      const answer = await fetchRaw(tls.relayUrl(url, { chains: [['d1']] }, 'd1'));
      if (plane === 'splice') expect(answer).toMatchObject({ status: 200, broken: undefined });
      else {
        const location = expect.stringContaining(url) as string;
        const headers = { location, [HEADERS.error]: 'origin-end-unsure' };
        expect(answer).toMatchObject({ status: 307, headers });
      }
      await tls.close();
      secure.close();
    },
  );

  describe.each(PLANES.filter(([plane]) => plane === 'splice'))(
    'whose body over TLS ends with the connection, where a depot, by %s, can tell a cut,',
    (_, splice) => {
      let tls: TestOverlay;
      let server: Server;
      let url: string;
      let startOverlay: (config: object) => Promise<void>;
      let requests: number;
      /** What the origin says before its connection ends, request by request; the last for all that follow. */
      let answers: { readonly text: string; readonly saysGoodbye: boolean }[];

      beforeEach(async () => {
        requests = 0;
        const { key, cert } = selfSigned();
        server = createServer((below) => {
          below.on('error', () => {});
          const secured = new TLSSocket(below, { isServer: true, key, cert });
          secured.on('error', () => {});
          secured.once('data', () => {
            requests += 1;
            const { text, saysGoodbye } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
            secured.write(text ?? '', () => (saysGoodbye ? secured : below).end());
          });
        });
        const port = await listenAnywhere(server);
        url = `https://127.0.0.1:${port}/file`;
        startOverlay = async (config) => {
          const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
          tls = await startTestOverlay([], () => {}, splice, {
            trusted: [cert],
            config: { addresses, ...config },
          });
          await tls.addDepot('d1');
        };
        await startOverlay({});
      });
      afterEach(async () => {
        await tls.close();
        server.close();
      });
      const download = (path = '') => fetchRaw(tls.relayUrl(url + path, { chains: [['d1']] }, 'd1'));

      test('and says no goodbye, makes it twice, and is left to clients from then on', async () => {
        answers = [{ text: UNFRAMED, saysGoodbye: false }];
        expect(await download()).toMatchObject({ status: 200, broken: 'ECONNRESET' });
        expect(requests).toBe(2);
        const codes = () => tls.depot('d1').events.flatMap((event) => ('code' in event ? [event.code] : []));
        await expect.poll(codes).toEqual(['origin-end-unsure']);
        for (const path of ['', '-of-the-same-folder']) {
          const location = expect.stringContaining(url + path) as string;
          const headers = { location, [HEADERS.error]: 'origin-end-unsure' };
          expect(await download(path)).toMatchObject({ status: 307, headers });
        }
        expect(requests).toBe(4);
      });

      test('and says no goodbye, and makes another one each time, is left to clients from then on', async () => {
        answers = ['first', 'other', 'third', 'fourth', 'fifth'].map((word) => ({
          text: `HTTP/1.1 200 OK\r\n\r\n${word} of all`,
          saysGoodbye: false,
        }));
        expect(await download()).toMatchObject({ status: 200, broken: 'ECONNRESET' });
        expect(await download()).toMatchObject({
          status: 307,
          headers: { [HEADERS.error]: 'origin-end-unsure' },
        });
      });

      test('and says no goodbye, is left to clients after the first where nothing may be fetched again', async () => {
        answers = [{ text: UNFRAMED, saysGoodbye: false }];
        await tls.close();
        await startOverlay({ failover: { fetchAgain: 'never' } });
        expect(await download()).toMatchObject({ status: 200, broken: 'ECONNRESET' });
        expect(await download()).toMatchObject({
          status: 307,
          headers: { [HEADERS.error]: 'origin-end-unsure' },
        });
        expect(requests).toBe(2);
      });

      test('and says no goodbye, is left to the client that was cut off, too, where it begins again, and by nothing else', async () => {
        answers = [{ text: UNFRAMED, saysGoodbye: false }];
        const address = tls.relayUrl(url, { chains: [['d1']] }, 'd1');
        expect(await fetchRaw(address)).toMatchObject({ status: 200, broken: 'ECONNRESET' });
        const error = { [HEADERS.error]: 'origin-end-unsure' };
        expect(await fetchRaw(address)).toMatchObject({ status: 307, headers: error });
        const goingOn = fetchRaw(address, { headers: { range: 'bytes=4-' } });
        expect(await goingOn).toMatchObject({ status: 503, headers: error });
      });

      test('is asked again where that was a cut, wherever and however often it was cut', async () => {
        const whole = { text: UNFRAMED, saysGoodbye: true };
        const cut = (bytes: number) => ({ text: UNFRAMED.slice(0, -bytes), saysGoodbye: false });
        answers = [cut(4), cut(6), cut(2), whole];
        const { status, broken, body } = await download();
        expect({ status, broken, body: body.toString() }).toEqual({
          status: 200,
          broken: undefined,
          body: 'all of it',
        });
        expect(requests).toBe(4);
        expect(await download()).toMatchObject({ status: 200, broken: undefined });
      });
    },
  );

  test('cannot silence the depot by a size that no master takes', async () => {
    await fetchPath('/huge-reset');
    await overlay.depot('d1').depot.close(0);
    const beats = overlay.master.requests.filter(({ path }) => path === '/v1/depots/d1/heartbeat');
    expect(beats.at(-1)?.body).toMatchObject({ sizes: [] });
    await overlay.addDepot('d1');
  });
});

describe('a hostile neighbour', () => {
  let neighbour: Server;
  afterEach(() => new Promise((resolve) => neighbour.close(resolve)));

  /** A registered depot that answers every CONNECT with this text. */
  async function startNeighbour(text: string): Promise<void> {
    neighbour = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(text));
    });
    await new Promise<void>((resolve) => neighbour.listen(0, '127.0.0.1', resolve));
    const address = neighbour.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '';
    overlay.master.depots.set('dx', {
      id: 'dx',
      host: '127.0.0.1',
      port,
      tls: false,
      publicKey,
      addresses: ['127.0.0.1'],
      state: 'up',
    });
    await overlay.addDepot('d9');
  }

  test.each(['config-invalid', '__proto__', 'nonsense'])(
    'that refuses with the code %s harms nobody',
    async (code) => {
      await startNeighbour(
        `HTTP/1.1 502 No\r\nlonghaul-error: ${code}\r\nlonghaul-depot: <b>evil</b>\r\n\r\n`,
      );
      const url = overlay.relayUrl('http://127.0.0.1:9/x', { chains: [['d9', 'dx']] }, 'd9');
      const answer = await fetchRaw(url);
      // The neighbour failed, so the entry depot tried alone, and its guard refused the address.
      expect(answer).toMatchObject({ status: 403, headers: { [HEADERS.error]: 'address-not-allowed' } });
      const failures = overlay.depot('d9').events.filter((event) => event.type === 'chain-failed');
      expect(failures).toMatchObject([{ code: 'next-depot-unreachable', depot: 'dx' }]);
    },
  );

  test.each([
    'ticket-wrong-authority',
    'ticket-expired',
    'address-not-allowed',
    'budget-used-up',
    'job-busy',
  ])('that refuses with %s what this depot has checked itself is passed by, and told of', async (code) => {
    await startNeighbour(`HTTP/1.1 403 No\r\nlonghaul-error: ${code}\r\nlonghaul-depot: dx\r\n\r\n`);
    const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains: [['d9', 'dx']] }, 'd9');
    expect((await fetchRaw(url)).status).toBe(200);
    const failures = overlay.depot('d9').events.filter((event) => event.type === 'chain-failed');
    expect(failures).toMatchObject([{ code, depot: 'dx' }]);
  });
});

describe('a hostile client', () => {
  function open(localAddress = '127.0.0.1'): Socket {
    const { hostname, port } = new URL(overlay.depot('d1').url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, localAddress });
    socket.on('error', () => {});
    return socket;
  }
  const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

  test.each(['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 'nonsense\r\n\r\n'])(
    'that is refused and keeps its side open is cut off',
    async (text) => {
      const socket = open();
      socket.resume();
      socket.write(text);
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.once('end', () => {
        // Writing on shows when the depot has let go of its side.
        const writer = setInterval(() => socket.write('x'), 50);
        socket.once('close', () => {
          clearInterval(writer);
          resolve();
        });
      });
      await promise;
      expect(socket.destroyed).toBe(true);
    },
  );

  test('that pipelines is served one request after the other', async () => {
    const target = new URL(overlay.relayUrl(`${overlay.originUrl}/x`));
    const request = `GET ${target.pathname}${target.search} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const socket = open();
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    // As many as apt asks for at once.
    socket.write(request.repeat(10));
    await expect.poll(() => answer.match(/hello/g)?.length).toBe(10);
    expect(overlay.originConnections()).toBe(10);
    socket.destroy();
  });

  test.each([
    ['plain ones', '', 0],
    ['such as expect something', 'Expect: y\r\n', 0],
    ['after a thousand on one connection', '', 1000],
  ])(
    'that lets more and more requests wait behind an answer is cut off, and others are served: %s',
    async (_, expectation, before) => {
      const target = new URL(overlay.relayUrl(`${overlay.originUrl}/resting`));
      const socket = open();
      for (let asked = 0; asked < before; asked += 1) {
        socket.write('GET /healthz HTTP/1.1\r\n\r\n');
        for (let text = ''; !text.endsWith('0\r\n\r\n'); ) text += String((await once(socket, 'data'))[0]);
      }
      socket.write(`GET ${target.pathname}${target.search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, 'data');
      socket.write(`GET /healthz HTTP/1.1\r\n${expectation}\r\n`.repeat(16));
      expect((await fetchPath('/other')).body.toString()).toBe('hello');
      socket.write(`GET /healthz HTTP/1.1\r\n${expectation}\r\n`);
      await closed(socket);
      const codes = () =>
        overlay.depot('d1').events.flatMap((event) => ('code' in event ? [event.code] : []));
      expect(codes()).toContain('too-many-waiting');
      expect((await fetchPath('/other')).body.toString()).toBe('hello');
    },
  );

  test('whose requests wait on many connections is cut off at half of what may wait, and others may still wait', async () => {
    const target = new URL(overlay.relayUrl(`${overlay.originUrl}/resting`));
    const waitBehind = async (count: number, localAddress = '127.0.0.1') => {
      const socket = open(localAddress);
      socket.write(`GET ${target.pathname}${target.search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, 'data');
      socket.write('GET /healthz HTTP/1.1\r\n\r\n'.repeat(count));
      return socket;
    };
    const waiting: Socket[] = [];
    for (let wait = 0; wait < 31; wait += 1) waiting.push(await waitBehind(16));
    const tooMany = await waitBehind(16);
    await closed(tooMany);
    expect(waiting.filter(({ destroyed }) => destroyed)).toEqual([]);
    const elsewhere = await waitBehind(16, '127.0.1.1');
    expect((await fetchPath('/other')).body.toString()).toBe('hello');
    expect(elsewhere.destroyed).toBe(false);
    for (const socket of [...waiting, elsewhere]) socket.destroy();
    // Those that have gone wait no more.
    const again = await waitBehind(16);
    expect((await fetchPath('/other')).body.toString()).toBe('hello');
    expect(again.destroyed).toBe(false);
    again.destroy();
  });

  test.each<[string, SplicePlane | undefined, boolean]>([
    ...PLANES.map(([plane, splice]): [string, SplicePlane | undefined, boolean] => [plane, splice, false]),
    ...PLANES.map(([plane, splice]): [string, SplicePlane | undefined, boolean] => [
      `${plane}, over TLS`,
      splice,
      true,
    ]),
  ])(
    'that reads none of its answers is cut off after a time, and one that reads no download keeps that: by %s',
    async (_, splice, isSecured) => {
      const secret = isSecured ? selfSigned() : undefined;
      // More than the kernels of all ends take.
      const large = Buffer.alloc(30_000_000);
      const other = await startTestOverlay(['d1'], (_request, response) => response.end(large), splice, {
        ...(secret && { tls: secret }),
        unreadTimeoutMs: 100,
      });
      onTestFinished(() => other.close());
      const { url, events } = other.depot('d1');
      const { hostname: host, port: portText } = new URL(url);
      const place = { host, port: Number(portText), agent: false, ca: secret?.cert };
      const dial = (path: string) => {
        const socket = isSecured ? connectTls(place) : connect(place);
        socket.on('error', () => {}).pause();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        return socket;
      };
      /** As the depot counts them, without the one that asks. */
      const openConnections = async () => {
        const asked = (isSecured ? getSecurely : get)({ ...place, path: '/metrics' });
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        return Number(/^longhaul_depot_connections (\d+)$/m.exec(await text(answer))?.[1]) - 1;
      };

      const target = new URL(other.relayUrl(`${other.originUrl}/large`));
      const download = dial(target.pathname + target.search);
      await once(download, 'readable');
      const nuisance = dial('/healthz');
      await expect.poll(openConnections).toBe(2);
      const asked = ['/healthz', ...Array<string>(14).fill('/metrics'), '/nonsense'];
      let asks = 0;
      await expect
        .poll(
          () => {
            // The last one before was answered: there is room for more.
            if (events.filter(({ type }) => type === 'refusal').length === asks) {
              asks += 1;
              for (const path of asked) nuisance.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
            }
            return openConnections();
          },
          { interval: 1, timeout: 20_000 },
        )
        .toBe(1);
      const codes = events.flatMap((event) => ('code' in event ? [event.code] : []));
      expect(codes).not.toContain('too-many-waiting');
      let bytes = 0;
      for await (const chunk of download) {
        bytes += (chunk as Buffer).length;
        if (bytes > large.length) break;
      }
      expect(bytes).toBeGreaterThan(large.length);
      nuisance.destroy();
    },
    30_000,
  );

  test.each(PLANES)(
    'that leaves answers unread behind a download has the patience that downloads have: by %s',
    async (_, splice) => {
      const other = await startTestOverlay(['d1'], (_request, response) => response.end('hello'), splice, {
        unreadTimeoutMs: 100,
      });
      onTestFinished(() => other.close());
      const { url, events } = other.depot('d1');
      const { hostname: host, port } = new URL(url);
      const dial = () => connect({ host, port: Number(port) }).on('error', () => {});
      const ask = (socket: Socket, path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const refusals = () => events.filter(({ type }) => type === 'refusal').length;
      /** Asks until nothing is answered any more, because nobody reads: not because the machine stands still. */
      const fill = async (socket: Socket) => {
        for (let before = -1; refusals() > before; ) {
          before = refusals();
          for (const path of [...Array<string>(15).fill('/metrics'), '/nonsense']) ask(socket, path);
          const askedAtMs = unstalledMs();
          const isKnown = () => refusals() > before || unstalledMs() - askedAtMs > 1000;
          await expect.poll(isKnown, { timeout: 30_000, interval: 5 }).toBe(true);
        }
      };

      const client = dial();
      const { pathname, search } = new URL(other.relayUrl(`${other.originUrl}/file`));
      ask(client, pathname + search);
      await once(client, 'data');
      client.pause();
      await fill(client);
      const stranger = dial().pause();
      await fill(stranger);
      // A connection that nobody reads says that it is gone to who writes.
      const isGone = () => {
        ask(stranger, '/healthz');
        return stranger.destroyed;
      };
      await expect.poll(isGone, { timeout: 10_000 }).toBe(true);
      const before = refusals();
      client.resume();
      // The last of what was asked is answered.
      await expect.poll(refusals).toBeGreaterThan(before);
      client.destroy();
    },
    60_000,
  );

  test('that puts a CONNECT behind a running download is cut off', async () => {
    const target = new URL(overlay.relayUrl(`${overlay.originUrl}/x`));
    const socket = open();
    socket.write(
      `GET ${target.pathname}${target.search} HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    await closed(socket);
    expect(answer).not.toContain('hello');
  });

  test('that puts nonsense behind a running download gets no other answer into its body', async () => {
    const target = new URL(overlay.relayUrl(`${overlay.originUrl}/resting`));
    const socket = open();
    socket.write(`GET ${target.pathname}${target.search} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
      if (answer.endsWith('begun')) socket.write('nonsense\r\n\r\n');
    });
    await closed(socket);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer.endsWith('begun')).toBe(true);
  });
});

test("the overlay's own addresses stay known while a name server fails", async () => {
  let nowMs = 0;
  let isFailing = false;
  const resolve = async () => {
    if (isFailing) throw new Error('no name server');
    return ['192.0.2.1'];
  };
  const overlayAddresses = new OverlayAddresses(resolve, () => nowMs);
  const place = { host: 'd2.example', port: 80 };
  await overlayAddresses.update([place]);
  isFailing = true;
  nowMs = 3_600_000;
  await overlayAddresses.update([place]);
  expect(overlayAddresses.includes('192.0.2.1', 80)).toBe(true);
});

test("the overlay's own addresses are known in every spelling", async () => {
  const overlayAddresses = new OverlayAddresses(
    async (host) => [host],
    () => 0,
  );
  await overlayAddresses.update([{ host: '127.0.0.2', port: 80 }]);
  expect(overlayAddresses.includes('::ffff:7f00:2', 80)).toBe(true);
  expect(overlayAddresses.includes('::ffff:127.0.0.2', 80)).toBe(true);
  expect(overlayAddresses.includes('127.0.0.3', 80)).toBe(false);
});
