import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { standStill } from '../testing/stand-still.ts';
import { promiseRelay } from './promises/relay-promises.ts';
import { receive, socketPair } from './promises/socket-pair.ts';
import { streamPlane } from './stream-plane.ts';

describe('the relay through Node', () => {
  promiseRelay(() => Promise.resolve({ plane: streamPlane, close: () => Promise.resolve() }));
});

test('a half-closed tunnel is not kept for bytes that waited only as they were written, as all do over TLS', async () => {
  // Writes to these are never done at once, either.
  const [[client, down], [server, up]] = [duplexPair(), duplexPair()];
  const { signal } = new AbortController();
  const outcome = streamPlane.tunnel(down, up, { silenceMs: 60_000, halfClosedSilenceMs: 1000, signal });
  client.resume().end();
  await once(server.resume(), 'end');
  server.write('partial');
  expect(await outcome).toMatchObject({ outcome: 'broke', reason: 'silent', bytesDown: 7 });
});

describe('a pause of its own process is no silence', () => {
  const silenceMs = 200;
  const { signal } = new AbortController();

  test('of a body', async () => {
    const [[origin, source], [sink, client]] = await Promise.all([socketPair(), socketPair()]);
    const received = receive(client);
    const moved = streamPlane.body(source, sink, { sizeBytes: 16, silenceMs, stallMs: 60_000, signal });
    origin.write('before');
    await received.until(6);
    origin.write(' and after');
    standStill(2 * silenceMs);
    expect(await moved).toEqual({ outcome: 'complete', bytes: 16 });
    for (const end of [origin, source, sink, client]) end.destroy();
  });

  test('of a tunnel', async () => {
    const [[client, down], [up, server]] = await Promise.all([socketPair(), socketPair()]);
    const received = receive(client);
    const outcome = streamPlane.tunnel(down, up, { silenceMs, halfClosedSilenceMs: 60_000, signal });
    server.write('before');
    await received.until(6);
    server.write(' and after');
    standStill(2 * silenceMs);
    expect((await received.until(16)).toString()).toBe('before and after');
    client.end();
    server.end();
    expect(await outcome).toMatchObject({ outcome: 'complete' });
  });
});
