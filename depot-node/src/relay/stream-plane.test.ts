import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { promiseRelay } from './promises/relay-promises.ts';
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
