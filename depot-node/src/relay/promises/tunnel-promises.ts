import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { receive } from './socket-pair.ts';
import { countDescriptors, hasArrived, type SuiteConnections, stopsGrowing } from './suite-connections.ts';

const MEGABYTE = 1_000_000;
const CHUNK_BYTES = 100_000;
// More than the kernel buffers of two connections on one machine take.
const MORE_THAN_BUFFERS = 64 * MEGABYTE;

/** What a plane promises about tunnels. */
export function promiseTunnel({ pair, join, tunnel, destroyAll }: SuiteConnections): void {
  test('delivers every byte both ways and counts them', async () => {
    const [up, down] = [randomBytes(2 * MEGABYTE), randomBytes(3 * MEGABYTE)];
    const grown = { up: 0, down: 0 };
    const { client, server, outcome } = await tunnel({
      onUp: (bytes) => (grown.up += bytes),
      onDown: (bytes) => (grown.down += bytes),
    });
    const [atServer, atClient] = [receive(server), receive(client)];
    client.end(up);
    server.end(down);
    expect((await atServer.all()).equals(up) && (await atClient.all()).equals(down)).toBe(true);
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: up.length, bytesDown: down.length });
    expect(grown).toEqual({ up: up.length, down: down.length });
  });

  test('sends on what was written just before it begins, though nothing comes after it', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
      const [atServer, atClient] = [receive(server), receive(client)];
      down.write('it stands');
      up.write('it asks');
      const outcome = join(down, up);
      expect((await atClient.until(9)).toString()).toBe('it stands');
      expect((await atServer.until(7)).toString()).toBe('it asks');
      client.end();
      server.end();
      expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 0, bytesDown: 0 });
    }
  });

  test('delivers chunks of any sizes in any mix of directions', async () => {
    const chunk = fc.record({ up: fc.boolean(), sizeBytes: fc.integer({ min: 1, max: 2 * MEGABYTE }) });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
        const { client, server, outcome } = await tunnel();
        const [atServer, atClient] = [receive(server), receive(client)];
        const sent = { up: createHash('sha256'), down: createHash('sha256') };
        const bytes = { up: 0, down: 0 };
        for (const { up, sizeBytes } of chunks) {
          const data = randomBytes(sizeBytes);
          sent[up ? 'up' : 'down'].update(data);
          bytes[up ? 'up' : 'down'] += sizeBytes;
          (up ? client : server).write(data);
        }
        client.end();
        server.end();
        expect(await atServer.digest()).toBe(sent.up.digest('hex'));
        expect(await atClient.digest()).toBe(sent.down.digest('hex'));
        expect(await outcome).toEqual({ outcome: 'complete', bytesUp: bytes.up, bytesDown: bytes.down });
      }),
      { numRuns: 12 },
    );
  }, 60_000);

  test('passes on a half-close from the client: the answer still comes', async () => {
    const { client, server, outcome } = await tunnel();
    const [atServer, atClient] = [receive(server), receive(client)];
    client.end('request');
    expect((await atServer.all()).toString()).toBe('request');
    server.end('answer after the end of the request');
    expect((await atClient.all()).toString()).toBe('answer after the end of the request');
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 7, bytesDown: 35 });
  });

  test('passes on a half-close from the server: the client still sends', async () => {
    const { client, server, outcome } = await tunnel();
    const [atServer, atClient] = [receive(server), receive(client)];
    server.end('greeting');
    expect((await atClient.all()).toString()).toBe('greeting');
    client.end('late words');
    expect((await atServer.all()).toString()).toBe('late words');
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 10, bytesDown: 8 });
  });

  test.each(['client', 'server'] as const)('passes on a reset by the %s as a reset', async (who) => {
    const { client, server, outcome } = await tunnel();
    const [atServer, atClient] = [receive(server), receive(client)];
    client.write('question');
    server.write('partial');
    await Promise.all([atServer.until(8), atClient.until(7)]);
    const [breaking, other] = who === 'client' ? [client, atServer] : [server, atClient];
    breaking.resetAndDestroy();
    expect(await other.end).toBe('ECONNRESET');
    const reason = who === 'client' ? 'downstream-broke' : 'upstream-broke';
    expect(await outcome).toEqual({ outcome: 'broke', reason, bytesUp: 8, bytesDown: 7 });
  });

  test('passes on a reset in the middle of a stream, and never as an end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3 * MEGABYTE }), async (at) => {
        const { client, server, outcome } = await tunnel();
        const atClient = receive(client);
        server.on('error', () => undefined);
        server.write(Buffer.alloc(at + 1));
        await atClient.until(at + 1);
        server.write(Buffer.alloc(4 * MEGABYTE));
        server.resetAndDestroy();
        expect(await atClient.end).toBe('ECONNRESET');
        const { bytesDown } = await outcome;
        expect(bytesDown).toBeGreaterThanOrEqual(atClient.length());
        expect(bytesDown).toBeLessThanOrEqual(at + 1 + 4 * MEGABYTE);
      }),
      { numRuns: 8 },
    );
  }, 60_000);

  test('passes on a reset that comes after a half-close', async () => {
    const { client, server, outcome } = await tunnel();
    const [atServer, atClient] = [receive(server), receive(client)];
    client.end('request');
    await atServer.all();
    server.resetAndDestroy();
    expect(await atClient.end).toBe('ECONNRESET');
    expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'upstream-broke', bytesUp: 7 });
  });

  test('delivers what came before an end, though a reset comes behind that, to a client that reads late', async () => {
    let taken = 0;
    const { client, server, outcome } = await tunnel({ onDown: (bytes) => (taken += bytes) });
    client.pause();
    const sent: Buffer[] = [];
    const sentBytes = () => sent.length * CHUNK_BYTES;
    // Until the client's side takes no more: then something waits within the tunnel, or behind it.
    for (let isFull = false; !isFull; ) {
      const chunk = randomBytes(CHUNK_BYTES);
      sent.push(chunk);
      await new Promise((resolve) => server.write(chunk, resolve));
      await stopsGrowing(() => taken);
      isFull = taken < sentBytes();
    }
    server.end();
    await hasArrived(server);
    server.resetAndDestroy();
    const atClient = receive(client);
    expect((await atClient.all()).equals(Buffer.concat(sent))).toBe(true);
    client.end();
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 0, bytesDown: sentBytes() });
  }, 60_000);

  test('delivers what came before an end to a client that reads only when the tunnel has been given up', async () => {
    const abort = new AbortController();
    let taken = 0;
    const full = await tunnel({ signal: abort.signal, onDown: (bytes) => (taken += bytes) });
    for (const end of [full.client, full.server]) end.on('error', () => undefined);
    full.client.pause();
    full.server.write(Buffer.alloc(MORE_THAN_BUFFERS));
    await stopsGrowing(() => taken);
    abort.abort();
    // So much fits into the kernel, most of it on this side of a client that reads nothing.
    const { bytesDown } = await full.outcome;

    const { client, server, outcome } = await tunnel({ halfClosedSilenceMs: 300 });
    server.on('error', () => undefined);
    client.pause();
    const sent = randomBytes(Math.floor(bytesDown * 0.75));
    server.end(sent);
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 0, bytesDown: sent.length });
    expect((await receive(client).all()).equals(sent)).toBe(true);
  }, 60_000);

  test('has patience with a client that reads late, though it has ended its side', async () => {
    const { client, server, outcome } = await tunnel({ halfClosedSilenceMs: 300 });
    const resting = await tunnel({ halfClosedSilenceMs: 1000 });
    client.pause();
    // Before it ends: a server that a busy machine keeps from its answer would be the silent one.
    server.end(Buffer.alloc(MORE_THAN_BUFFERS));
    client.end();
    server.resume();
    await once(server, 'end');
    resting.client.on('error', () => undefined).end();
    expect(await resting.outcome).toMatchObject({ reason: 'silent' });
    expect((await receive(client).all()).length).toBe(MORE_THAN_BUFFERS);
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: MORE_THAN_BUFFERS });
  }, 60_000);

  test('resets a server that has ended when the client falls silent without an end: its request may be cut', async () => {
    const { client, server, outcome } = await tunnel({ halfClosedSilenceMs: 300 });
    const [atServer, atClient] = [receive(server), receive(client)];
    client.write('half a requ');
    await atServer.until(11);
    server.end('answer');
    expect((await atClient.all()).toString()).toBe('answer');
    expect(await outcome).toEqual({ outcome: 'complete', bytesUp: 11, bytesDown: 6 });
    expect(await atServer.end).toBe('ECONNRESET');
  });

  test('ends for a client that goes on to send to a server which has ended and gone', async () => {
    const { client, server, outcome } = await tunnel();
    const atClient = receive(client);
    server.end('answer');
    expect((await atClient.all()).toString()).toBe('answer');
    const breaks: unknown[] = [];
    client.on('error', (error) => breaks.push(error));
    server.destroy();
    for (let part = 0; part < 200; part += 1)
      await new Promise((resolve) => client.write(Buffer.alloc(CHUNK_BYTES), resolve));
    client.end();
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: 6 });
    expect(breaks).toEqual([]);
  }, 60_000);

  test('ends for a client that falls silent when the server has ended and gone', async () => {
    const { client, server, outcome } = await tunnel({ halfClosedSilenceMs: 500 });
    const atClient = receive(client);
    server.end('answer');
    expect((await atClient.all()).toString()).toBe('answer');
    server.destroy();
    for (let part = 0; part < 20; part += 1)
      await new Promise((resolve) => client.write(Buffer.alloc(CHUNK_BYTES), resolve));
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: 6 });
  });

  test('passes no reset on as an end, whatever the client sends meanwhile and however late it reads', async () => {
    let taken = 0;
    const { client, server, outcome } = await tunnel({ onDown: (bytes) => (taken += bytes) });
    client.pause();
    server.on('error', () => undefined);
    server.write(Buffer.alloc(MORE_THAN_BUFFERS));
    await stopsGrowing(() => taken);
    server.resetAndDestroy();
    for (let part = 0; part < 20; part += 1) client.write(Buffer.alloc(1000));
    expect(await receive(client).end).toBe('ECONNRESET');
    expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'upstream-broke' });
  }, 60_000);

  test('notices that a client which has stopped reading is gone', async () => {
    const { client, server, outcome } = await tunnel();
    const atServer = receive(server);
    client.pause();
    server.write(Buffer.alloc(MORE_THAN_BUFFERS));
    await stopsGrowing(() => server.writableLength);
    client.resetAndDestroy();
    expect(await atServer.end).toBe('ECONNRESET');
    expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'downstream-broke' });
  });

  test('resets both ends when it is cancelled, also before it began', async () => {
    const abort = new AbortController();
    for (const signal of [abort.signal, AbortSignal.abort()]) {
      const { client, server, outcome } = await tunnel({ signal });
      const [atServer, atClient] = [receive(server), receive(client)];
      if (!signal.aborted) {
        server.write('x');
        await atClient.until(1);
        abort.abort();
      }
      expect(await Promise.all([atServer.end, atClient.end])).toEqual(['ECONNRESET', 'ECONNRESET']);
      expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'cancelled' });
    }
  });

  test('gives up on silence, later while both directions are open than afterwards', async () => {
    const resting = await tunnel({ silenceMs: 50 });
    const [atServer, atClient] = [receive(resting.server), receive(resting.client)];
    expect(await resting.outcome).toMatchObject({ outcome: 'broke', reason: 'silent' });
    expect(await Promise.all([atServer.end, atClient.end])).toEqual(['ECONNRESET', 'ECONNRESET']);

    const half = await tunnel({ halfClosedSilenceMs: 50 });
    const [halfServer, halfClient] = [receive(half.server), receive(half.client)];
    half.client.end();
    expect(await half.outcome).toMatchObject({ outcome: 'broke', reason: 'silent' });
    expect(await Promise.all([halfServer.end, halfClient.end])).toEqual(['end', 'ECONNRESET']);
  });

  test('gives up on silence behind a short answer as soon as on any other, when the client has ended its side', async () => {
    const { client, server, outcome } = await tunnel({ halfClosedSilenceMs: 1000 });
    const [atServer, atClient] = [receive(server), receive(client)];
    client.end('request');
    await atServer.all();
    server.write('partial');
    expect((await atClient.until(7)).toString()).toBe('partial');
    // Long before both directions would be.
    expect(await outcome).toEqual({ outcome: 'broke', reason: 'silent', bytesUp: 7, bytesDown: 7 });
    expect(await atClient.end).toBe('ECONNRESET');
  });

  test('holds the sender back while the receiver does not read', async () => {
    const { client, server, outcome } = await tunnel();
    client.pause();
    let taken = 0;
    for (let sent = 0; sent < MORE_THAN_BUFFERS; sent += MEGABYTE) {
      server.write(Buffer.alloc(MEGABYTE), () => (taken += MEGABYTE));
    }
    server.end();
    await stopsGrowing(() => taken);
    expect(taken).toBeLessThan(MORE_THAN_BUFFERS);
    client.end();
    const atClient = receive(client);
    await atClient.all();
    expect(atClient.length()).toBe(MORE_THAN_BUFFERS);
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: MORE_THAN_BUFFERS });
  });

  test('passes on what Node had read, what was put back and what was written before', async () => {
    const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
    const [atServer, atClient] = [receive(server), receive(client)];
    client.write('request');
    server.write('early');
    await Promise.all([once(down, 'readable'), once(up, 'readable')]);
    down.unshift('head and ');
    down.write('200 Connected ');
    const outcome = join(down, up);
    client.end();
    server.end();
    expect((await atServer.all()).toString()).toBe('head and request');
    expect((await atClient.all()).toString()).toBe('200 Connected early');
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesUp: 16, bytesDown: 5 });
  });

  test('passes on an end that came before it', async () => {
    const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
    const [atServer, atClient] = [receive(server), receive(client)];
    client.end();
    down.resume();
    await once(down, 'end');
    const outcome = join(down, up);
    expect((await atServer.all()).length).toBe(0);
    server.end('late answer');
    expect((await atClient.all()).toString()).toBe('late answer');
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: 11 });
  });

  test('resets the other end when one is gone before it began', async () => {
    const [[, down], [server, up]] = await Promise.all([pair(), pair()]);
    const atServer = receive(server);
    down.destroy();
    const outcome = join(down, up);
    expect(await atServer.end).toBe('ECONNRESET');
    expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'downstream-broke' });
  });

  test('leaves 200 others alone while each of them goes its way', async () => {
    const open = countDescriptors();
    const payload = randomBytes(200_000);
    const tunnels = await Promise.all(Array.from({ length: 200 }, () => tunnel()));
    const outcomes = tunnels.map(async ({ client, server, outcome }, index) => {
      const [atServer, atClient] = [receive(server), receive(client)];
      client.write(payload);
      server.write(payload);
      if (index % 3 === 0) {
        await atServer.until(payload.length);
        client.resetAndDestroy();
        return outcome;
      }
      client.end();
      server.end();
      expect((await atServer.all()).equals(payload) && (await atClient.all()).equals(payload)).toBe(true);
      return outcome;
    });
    const settled = await Promise.all(outcomes);
    expect(settled.filter(({ outcome }) => outcome === 'broke').length).toBe(67);
    destroyAll();
    // Pooled pipes may stay.
    await expect.poll(countDescriptors).toBeLessThanOrEqual(open + 130);
  }, 60_000);
}
