import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { promiseRelay } from './promises/relay-promises.ts';
import { receive, socketPair } from './promises/socket-pair.ts';
import { hasArrived, stopsGrowing, suiteConnections } from './promises/suite-connections.ts';
import { openSplicePlane } from './splice-plane.ts';

const opened = await openSplicePlane();
const why = opened.ok ? '' : ` (skipped: ${opened.reason})`;

describe.skipIf(!opened.ok)(`the relay in the kernel${why}`, () => {
  if (!opened.ok) return;
  const { plane } = opened;
  test('takes a tunnel out of the hands of Node, and gives a body back', async () => {
    const [[client, down], [server, up]] = await Promise.all([socketPair(), socketPair()]);
    const { signal } = new AbortController();
    const limits = { silenceMs: 60_000, halfClosedSilenceMs: 60_000, stallMs: 60_000, signal };
    server.write(Buffer.alloc(1_000_000));
    const received = receive(client);
    expect(await plane.body(up, down, { ...limits, sizeBytes: 1_000_000 })).toMatchObject({
      bytes: 1_000_000,
    });
    // What Node had not read before the body, it has not read at all.
    expect(up.bytesRead).toBeLessThan(1_000_000);
    const outcome = plane.tunnel(down, up, limits);
    await Promise.all([once(down, 'close'), once(up, 'close')]);
    server.end('and more');
    client.end();
    await received.all();
    expect(received.length()).toBe(1_000_008);
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: 8 });
  });

  test('delivers what came before an end and a reset also where the client sends before it reads', async () => {
    const { tunnel, destroyAll } = suiteConnections(() => plane, socketPair);
    let taken = 0;
    const { client, server, outcome } = await tunnel({ onDown: (bytes) => (taken += bytes) });
    client.pause();
    const sent: Buffer[] = [];
    const sentBytes = () => sent.reduce((sum, { length }) => sum + length, 0);
    for (let isFull = false; !isFull; isFull = taken < sentBytes()) {
      sent.push(randomBytes(100_000));
      await new Promise((resolve) => server.write(sent.at(-1) ?? '', resolve));
      await stopsGrowing(() => taken);
    }
    server.end();
    await hasArrived(server);
    server.resetAndDestroy();
    for (let part = 0; part < 20; part += 1)
      await new Promise((resolve) => client.write(Buffer.alloc(1000), resolve));
    const all = await receive(client).all();
    expect(all.equals(Buffer.concat(sent))).toBe(true);
    client.end();
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesDown: all.length });
    destroyAll();
  }, 60_000);

  test('digests in its thread what bodies bring, and what this thread adds between them', async () => {
    const [[client, sink], [server, source]] = await Promise.all([socketPair(), socketPair()]);
    const received = receive(client);
    const { signal } = new AbortController();
    const parts = [randomBytes(3_000_000), Buffer.from('between'), randomBytes(1_000_000)];
    const digest = plane.openDigest('sha256');
    const watcher = { digest, tagKey: undefined, onTags: () => {}, onChunk: () => {} };
    const limits = { silenceMs: 60_000, stallMs: 60_000, signal, watcher };
    for (const part of parts) {
      if (part.length < 100) {
        sink.write(part);
        digest?.add(part);
        continue;
      }
      server.write(part);
      expect(await plane.body(source, sink, { ...limits, sizeBytes: part.length })).toMatchObject({
        outcome: 'complete',
      });
    }
    const all = Buffer.concat(parts);
    expect((await received.until(all.length)).equals(all)).toBe(true);
    const made = Buffer.from((await digest?.finish()) ?? []);
    expect(made.toString('hex')).toBe(createHash('sha256').update(all).digest('hex'));
    for (const socket of [client, sink, server, source]) socket.destroy();
  });

  promiseRelay(() => Promise.resolve({ plane, close: plane.close }));
});
