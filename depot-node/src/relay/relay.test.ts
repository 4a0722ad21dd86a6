import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RelayOutcome, relay } from './relay.ts';

/** Two real TCP connections with the relay between their inner ends. */
interface Joined {
  readonly client: Socket;
  readonly server: Socket;
  readonly outcome: Promise<RelayOutcome>;
  readonly abort: () => void;
}

async function socketPair(): Promise<[Socket, Socket]> {
  const listener = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const outer = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  const [inner] = (await once(listener, 'connection')) as [Socket];
  listener.close();
  return [outer, inner];
}

test('an end that came before the relay is passed on like any other', async () => {
  const [client, down] = await socketPair();
  const [server, up] = await socketPair();
  client.end();
  down.resume();
  await once(down, 'end');
  const outcome = relay(down, up, {
    silenceMs: 60_000,
    halfClosedSilenceMs: 60_000,
    signal: new AbortController().signal,
  });
  expect((await readAll(server)).length).toBe(0);
  server.end('late answer');
  expect((await readAll(client)).toString()).toBe('late answer');
  expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: 11 });
});

let joined: Joined;
beforeEach(async () => {
  const [client, down] = await socketPair();
  const [server, up] = await socketPair();
  const abort = new AbortController();
  const outcome = relay(down, up, { silenceMs: 60_000, halfClosedSilenceMs: 60_000, signal: abort.signal });
  joined = { client, server, outcome, abort: () => abort.abort() };
});
afterEach(() => {
  joined.client.destroy();
  joined.server.destroy();
});

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('two joined connections', () => {
  test('deliver every byte both ways and count them', async () => {
    const up = randomBytes(2_000_000);
    const down = randomBytes(3_000_000);
    joined.client.end(up);
    joined.server.end(down);
    const [atServer, atClient] = await Promise.all([readAll(joined.server), readAll(joined.client)]);
    expect(atServer.equals(up) && atClient.equals(down)).toBe(true);
    expect(await joined.outcome).toEqual({ outcome: 'complete', bytesUp: up.length, bytesDown: down.length });
  });

  test('pass on a half-close: the other direction goes on', async () => {
    joined.client.end('request');
    expect((await readAll(joined.server)).toString()).toBe('request');
    joined.server.end('answer after the end of the request');
    expect((await readAll(joined.client)).toString()).toBe('answer after the end of the request');
    expect(await joined.outcome).toMatchObject({ outcome: 'complete' });
  });

  test('pass on a reset as a reset, from either end', async () => {
    joined.server.write('partial');
    await once(joined.client, 'data');
    const failure = once(joined.client, 'error');
    joined.server.resetAndDestroy();
    expect((await failure)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(await joined.outcome).toMatchObject({ outcome: 'broke', bytesDown: 7 });
  });

  test('reset both ends when the depot gives up', async () => {
    const failures = Promise.all([once(joined.client, 'error'), once(joined.server, 'error')]);
    joined.abort();
    expect((await failures).flat()).toMatchObject([{ code: 'ECONNRESET' }, { code: 'ECONNRESET' }]);
    expect(await joined.outcome).toMatchObject({ outcome: 'broke' });
  });

  test('hold the sender back while the receiver does not read', async () => {
    const total = 64_000_000;
    let taken = 0;
    // Kernel buffers take some megabytes; a relay without backpressure would take all of this.
    joined.client.pause();
    for (let sent = 0; sent < total; sent += 1_000_000) {
      joined.server.write(Buffer.alloc(1_000_000), () => {
        taken += 1_000_000;
      });
    }
    await expect.poll(() => taken > 0).toBe(true);
    expect(taken).toBeLessThan(total);
    joined.client.end();
    joined.server.end();
    let received = 0;
    for await (const data of joined.client) received += (data as Buffer).length;
    expect(received).toBe(total);
    expect(await joined.outcome).toMatchObject({ outcome: 'complete', bytesDown: total });
  });
});
