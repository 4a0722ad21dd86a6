import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { stopsGrowing } from './relay/promises/suite-connections.ts';
import { openSplicePlane, type SplicePlane } from './relay/splice-plane.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const tls = selfSigned();
/** Longer than what breaks off by itself takes to do so, also on a busy machine; what comes by threads waits for it. */
const BREAK_OFF_MS = 2000;
const NOW = 'Sat, 28 Nov 2026 12:00:00 GMT';
const BEFORE = 'Sat, 28 Nov 2026 11:00:00 GMT';

/** A download as the kernel sees it: its bytes, and what its connection's end was. */
function downloadRaw(
  address: string,
  headers = '',
): { readonly bytes: number; readonly head: string; readonly over: Promise<string> } {
  const { protocol, hostname, port, pathname, search } = new URL(address);
  const place = { host: hostname, port: Number(port) };
  const socket = protocol === 'https:' ? connectTls({ ...place, ca: tls.cert }) : connect(place);
  const over = Promise.withResolvers<string>();
  const client = { bytes: 0, head: '', over: over.promise };
  socket.on('data', (chunk: Buffer) => {
    client.head ||= chunk.toString('latin1');
    client.bytes += chunk.length;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => over.resolve(error.code ?? ''));
  socket.on('end', () => over.resolve('ended'));
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers}\r\n`);
  return client;
}

/**
 * The plane as it is when its thread has more to do than the client: what it reports of a body comes after
 * the client's end.
 */
function reportingLate(plane: SplicePlane, onMoved: () => void): SplicePlane {
  return {
    ...plane,
    body: async (source, sink, options) => {
      const outcome = await plane.body(source, sink, options);
      onMoved();
      if (!sink.closed) await new Promise((resolve) => sink.once('close', resolve));
      return outcome;
    },
  };
}

describe.each(await testPlanes())('with a relay of %s,', (_kind, plane) => {
  const splice = plane && reportingLate(plane, () => (movedBodies += 1));
  /** Bodies that the kernel has moved. */
  let movedBodies: number;
  /** The origin's answer under way, held by the test. */
  let answers: ServerResponse[];
  let overlay: TestOverlay;
  /** Bytes of the file, and of those what the origin sends at once. */
  let sizes: { total: number; first: number; isCounted: boolean; headers?: Record<string, string> };
  beforeEach(async () => {
    answers = [];
    movedBodies = 0;
    sizes = { total: 10, first: 5, isCounted: true };
    overlay = await startTestOverlay(
      ['d1', 'd2'],
      (_, response) => {
        answers.push(response);
        const { total, isCounted, headers = { ETag: '"v1"' } } = sizes;
        response.writeHead(200, {
          ...headers,
          'Accept-Ranges': 'bytes',
          ...(isCounted ? { 'Content-Length': total } : {}),
        });
        response.write('first'.padEnd(sizes.first, '.'));
      },
      splice,
      { breakOffMs: BREAK_OFF_MS },
    );
  });
  afterEach(() => overlay.close());

  async function beginDownload(
    agent: Agent | false = false,
  ): Promise<{ asked: ClientRequest; answer: IncomingMessage }> {
    const asked = request(overlay.relayUrl(`${overlay.originUrl}/held.bin`), { agent });
    asked.on('error', () => {});
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    return { asked, answer };
  }

  describe('a depot that is asked to stop', () => {
    test('lets a running download finish, and takes nothing new', async () => {
      const { answer } = await beginDownload();
      const closed = overlay.depot('d1').depot.close(30_000);
      const { url } = overlay.depot('d1');
      await expect(fetchRaw(`${url}/healthz`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      const rest = once(answer, 'data');
      const ended = once(answer, 'end');
      answers[0]?.end('final');
      expect(String((await rest)[0])).toBe('final');
      await ended;
      await closed;
      expect(answer.complete).toBe(true);
    });

    test('does not wait for what a client may want next over the same connection', async () => {
      const agent = new Agent({ keepAlive: true });
      onTestFinished(() => agent.destroy());
      const { answer } = await beginDownload(agent);
      const closed = overlay.depot('d1').depot.close(30_000);
      answers[0]?.end('final');
      await once(answer.resume(), 'end');
      // Kept connections last longer than this test may.
      await expect(closed).resolves.toBeUndefined();
    });

    test('lets a tunnel of another depot finish as well', async () => {
      const { answer } = await beginDownload();
      const closed = overlay.depot('d2').depot.close(30_000);
      await expect(fetchRaw(`${overlay.depot('d2').url}/healthz`)).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
      const ended = once(answer, 'end');
      answer.resume();
      answers[0]?.end('final');
      await ended;
      await closed;
      expect(answer.complete).toBe(true);
    });

    test.runIf(plane).each([
      ['over a kept connection', ''],
      ['over its own connection', 'Connection: close\r\n'],
    ])(
      'lets a download %s leave the threads, too, that end its TLS',
      async (_what, headers) => {
        const opened = await openSplicePlane({ threads: 1 });
        if (!opened.ok) throw new Error(opened.reason);
        const secure = await startTestOverlay(
          ['d1'],
          // Without a length Node writes it.
          (_, response) => response.writeHead(200, { ETag: '"v1"' }).end(file),
          opened.plane,
          { tls },
        );
        onTestFinished(() => secure.close());
        const file = Buffer.alloc(10_000_000, 'f');
        const { hostname, port, pathname, search } = new URL(
          secure.relayUrl(`${secure.originUrl}/chunked.bin`),
        );
        const client = connectTls({ host: hostname, port: Number(port), ca: tls.cert });
        onTestFinished(() => void client.destroy());
        client.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n${headers}\r\n`);
        const { depot, events } = secure.depot('d1');
        let bytes = 0;
        const read = () => (bytes += client.read()?.length ?? 0);
        // All wait for the client.
        await expect
          .poll(() => read() && events, { interval: 1, timeout: 20_000 })
          .toContainEqual(expect.objectContaining({ type: 'transfer', outcome: 'complete' }));
        const closed = depot.close(30_000).then(opened.plane.close);
        await stopsGrowing(() => client.readableLength);
        for await (const chunk of client) bytes += (chunk as Buffer).length;
        expect(bytes).toBeGreaterThan(file.length);
        await closed;
      },
      30_000,
    );

    test.each([
      ['ends what is left by FIN, behind all that has come', true, 2_000_000, 'ended'],
      ['resets what would look whole if it only ended', false, 600_000, 'ECONNRESET'],
    ])('when its time is over %s', async (_what, isCounted, total, how) => {
      sizes = { total, first: 500_000, isCounted };
      const client = downloadRaw(overlay.relayUrl(`${overlay.originUrl}/held.bin`));
      await expect.poll(() => client.bytes).toBeGreaterThan(500_000);
      await overlay.depot('d1').depot.close(10);
      expect(await client.over).toBe(how);
      expect(client.bytes).toBeLessThan(502_000);
    });

    test.each([
      ['without anything that tells its version', {}, 'ECONNRESET'],
      ['with a weak tag', { ETag: 'W/"v1"' }, 'ECONNRESET'],
      ['that was changed just now', { 'Last-Modified': NOW, Date: NOW }, 'ECONNRESET'],
      ['in a coding', { ETag: '"v1"', 'Content-Encoding': 'gzip' }, 'ECONNRESET'],
      ['with a strong tag', { ETag: '"v1"' }, 'ended'],
      ['that was changed long before', { 'Last-Modified': BEFORE, Date: NOW }, 'ended'],
    ])(
      'ends what is left of a file %s so that no browser takes it for whole',
      async (_what, headers, how) => {
        sizes = { total: 2_000_000, first: 500_000, isCounted: true, headers };
        const client = downloadRaw(overlay.relayUrl(`${overlay.originUrl}/held.bin`));
        await expect.poll(() => client.bytes).toBeGreaterThan(500_000);
        await overlay.depot('d1').depot.close(10);
        expect(await client.over).toBe(how);
      },
    );

    test.runIf(plane).each([
      ['the kernel', {}],
      ['the kernel and TLS', { tls }],
    ])('ends so what comes by %s', async (_what, material) => {
      const secure = await startTestOverlay(
        ['d1'],
        (_, response) => {
          response.writeHead(200, { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Content-Length': 2_000_000 });
          response.write(Buffer.alloc(500_000));
        },
        plane,
        { ...material, breakOffMs: BREAK_OFF_MS },
      );
      onTestFinished(() => secure.close());
      const client = downloadRaw(secure.relayUrl(`${secure.originUrl}/held.bin`));
      await expect.poll(() => client.bytes).toBeGreaterThan(500_000);
      await secure.depot('d1').depot.close(10);
      expect(await client.over).toBe('ended');
    });

    test('breaks off without a word what a client goes on with, and has no answer yet: browsers give up what is on disk after some refusals', async () => {
      const silent = await startTestOverlay(['d1'], (_, response) => answers.push(response), splice, {
        breakOffMs: BREAK_OFF_MS,
      });
      onTestFinished(() => silent.close());
      const address = silent.relayUrl(`${silent.originUrl}/held.bin`);
      const [resumed, anew] = [downloadRaw(address, 'Range: bytes=5-\r\n'), downloadRaw(address)];
      await expect.poll(() => answers.length).toBe(2);
      await silent.depot('d1').depot.close(10);
      expect([await resumed.over, resumed.bytes]).toEqual(['ECONNRESET', 0]);
      expect(await anew.over).toBe('ended');
      expect(anew.head).toMatch(/^HTTP\/1\.1 503 .*longhaul-error: shutting-down/is);
    });

    test('says of what it breaks off that it is shutting down, and not that the client left', async () => {
      sizes = { ...sizes, total: 2_000_000, first: 500_000 };
      const { answer } = await beginDownload();
      let bytes = 0;
      answer.on('error', () => {}).on('data', (chunk: Buffer) => (bytes += chunk.length));
      await expect.poll(() => bytes).toBeGreaterThan(300_000);
      const { depot, events } = overlay.depot('d1');
      await depot.close(10);
      await expect
        .poll(() => events)
        .toContainEqual(expect.objectContaining({ type: 'refusal', code: 'shutting-down' }));
      expect(events).toContainEqual(expect.objectContaining({ type: 'transfer', outcome: 'upstream-broke' }));
    });
  });

  describe('a client that has its whole file', () => {
    test('is not said to have left, however soon it closes its connection', async () => {
      const file = Buffer.alloc(1_000_000, 'f');
      const whole = await startTestOverlay(
        ['d1', 'd2'],
        (_, response) =>
          response
            .writeHead(200, { ETag: '"v1"', 'Accept-Ranges': 'bytes', 'Content-Length': file.length })
            .end(file),
        splice,
      );
      try {
        const asked = request(whole.relayUrl(`${whole.originUrl}/whole.bin`), { agent: false });
        asked.end();
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes === file.length) asked.destroy();
        });
        await once(answer, 'close');
        await expect
          .poll(() => whole.depot('d1').events)
          .toContainEqual(
            expect.objectContaining({ type: 'transfer', outcome: 'complete', bodyBytes: file.length }),
          );
      } finally {
        await whole.close();
      }
    });
  });

  describe('a client that leaves', () => {
    test.runIf(plane)(
      'with a reset has left, although the kernel had taken the whole file for it',
      async () => {
        sizes = { ...sizes, total: 400_000, first: 400_000 };
        const { asked, answer } = await beginDownload();
        answer.pause();
        await expect.poll(() => movedBodies).toBe(1);
        asked.socket?.resetAndDestroy();
        await expect
          .poll(() => overlay.depot('d1').events)
          .toContainEqual(expect.objectContaining({ type: 'transfer', outcome: 'client-left' }));
      },
    );

    test('frees its whole chain, up to the origin', async () => {
      const { asked } = await beginDownload();
      const originGone = once(answers[0] ?? asked, 'close');
      asked.destroy();
      await originGone;
      await expect
        .poll(() => overlay.depot('d1').events.at(-1))
        .toMatchObject({ type: 'transfer', outcome: 'client-left', bodyBytes: 5 });
      await expect
        .poll(() => overlay.depot('d2').events.at(-1))
        .toMatchObject({ type: 'tunnel', outcome: 'broke' });
    });
  });

  describe('clients that leave at any moment', () => {
    test('leave nothing behind, neither in depots nor at the origin', async () => {
      const leaving = Array.from({ length: 150 }, (_, index) => {
        const asked = request(overlay.relayUrl(`${overlay.originUrl}/held.bin`), { agent: false });
        asked.on('error', () => {});
        asked.on('response', (answer) => answer.on('error', () => {}));
        asked.end();
        return new Promise<void>((resolve) => {
          setTimeout(() => {
            asked.destroy();
            resolve();
          }, index % 50);
        });
      });
      await Promise.all(leaving);
      await expect.poll(() => overlay.originOpenConnections(), { timeout: 10_000 }).toBe(0);
      for (const id of ['d1', 'd2']) {
        const metrics = async () => (await fetchRaw(`${overlay.depot(id).url}/metrics`)).body.toString();
        await expect.poll(metrics, { timeout: 10_000 }).toMatch(/^longhaul_depot_active 0$/m);
      }
    });
  });

  describe('an origin that goes silent in the middle of a body', () => {
    test('is given up after as long as a client may leave it unread, and the client is reset', async () => {
      await overlay.addDepot('d9', {
        timeouts: { silenceSeconds: 0.2, stallSeconds: 0.4 },
        addresses: { allow: [{ network: '127.0.0.0/8', ports: [Number(new URL(overlay.originUrl).port)] }] },
      });
      const answer = await fetchRaw(
        overlay.relayUrl(`${overlay.originUrl}/held.bin`, { chains: [['d9']] }, 'd9'),
      );
      expect(answer).toMatchObject({ status: 200, broken: 'ECONNRESET' });
      expect(answer.body.toString()).toBe('first');
    });
  });
});
