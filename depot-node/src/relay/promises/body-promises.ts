import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunningDigest } from '../../digests/running-digest.ts';
import { receive, writeAll } from './socket-pair.ts';
import { countDescriptors, type SuiteConnections, stopsGrowing } from './suite-connections.ts';

const MEGABYTE = 1_000_000;
// More than the kernel buffers of two connections on one machine take.
const MORE_THAN_BUFFERS = 64 * MEGABYTE;

/** What a plane promises about bodies. */
export function promiseBody({ pair, bodyEnds, body, destroyAll }: SuiteConnections): void {
  test('is moved exactly: the message behind it stays with the source', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    const payload = randomBytes(5 * MEGABYTE);
    origin.write(Buffer.concat([payload, Buffer.from('next message')]));
    let grown = 0;
    const onBytes = (bytes: number) => (grown += bytes);
    expect(await body(source, sink, payload.length, { onBytes })).toEqual({
      outcome: 'complete',
      bytes: payload.length,
    });
    expect(sink.writableLength).toBe(0);
    expect((await received.until(payload.length)).equals(payload)).toBe(true);
    expect(grown).toBe(payload.length);
    expect(source.isPaused()).toBe(true);
    expect((await receive(source).until(12)).toString()).toBe('next message');
  });

  test('sends on the head that was written just before it, though the first byte takes its time', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { origin, source, sink, received } = await bodyEnds();
      sink.write('the head, ');
      const moved = body(source, sink, 8);
      expect((await received.until(10)).toString()).toBe('the head, ');
      origin.write('the body');
      expect(await moved).toEqual({ outcome: 'complete', bytes: 8 });
      expect((await received.until(18)).toString()).toBe('the head, the body');
    }
  });

  test('shows a watcher every byte that it takes, in order, and none behind it', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    const payloads = [3 * MEGABYTE, 10, 2 * MEGABYTE].map((sizeBytes) => randomBytes(sizeBytes));
    origin.write(Buffer.concat([...payloads, Buffer.from('next message')]));
    const given = new RunningDigest();
    const watcher = {
      digest: undefined,
      tagKey: given.key,
      onTags: given.updateTagged.bind(given),
      onChunk: given.update.bind(given),
    };
    for (const { length } of payloads)
      expect(await body(source, sink, length, { watcher })).toMatchObject({ outcome: 'complete' });
    const all = Buffer.concat(payloads);
    expect((await received.until(all.length)).equals(all)).toBe(true);
    const prefix = given.prefix();
    expect(prefix.restBytes).toBe(all.length);
    expect(prefix.take(Buffer.concat([all, Buffer.from('!')]))?.toString()).toBe('!');
  });

  test('of any size follows another over the same two connections', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 * MEGABYTE }), { minLength: 1, maxLength: 6 }),
        async (sizes) => {
          const { origin, source, sink, client, received } = await bodyEnds();
          const payloads = sizes.map((sizeBytes) => randomBytes(sizeBytes));
          const expected = createHash('sha256');
          for (const payload of payloads) {
            expected.update('head ').update(payload);
            origin.write(payload);
          }
          for (const payload of payloads) {
            sink.write('head ');
            const moved = await body(source, sink, payload.length);
            expect(moved).toEqual({ outcome: 'complete', bytes: payload.length });
          }
          sink.end();
          client.end();
          expect(await received.digest()).toBe(expected.digest('hex'));
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);

  test.each(['ends', 'resets'] as const)(
    'goes on from another source at the exact byte where its source %s',
    async (how) => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 3 * MEGABYTE }), async (at) => {
          const { origin, source, sink, client, received } = await bodyEnds();
          const [secondOrigin, secondSource] = await pair();
          const payload = randomBytes(4 * MEGABYTE);
          const first = body(source, sink, payload.length);
          if (how === 'ends') {
            origin.end(payload.subarray(0, at));
          } else {
            // Written on as far as it gets: the reset comes at a point that nobody chose.
            origin.write(payload.subarray(0, at + 1));
            await received.until(Math.min(at, 1));
            origin.resetAndDestroy();
          }
          const { outcome, bytes } = await first;
          expect(outcome).toBe(how === 'ends' ? 'source-ended' : 'source-broke');
          if (how === 'ends') expect(bytes).toBe(at);
          expect(sink.writableLength).toBe(0);
          expect((await received.until(bytes)).length).toBe(bytes);
          secondOrigin.write(payload.subarray(bytes));
          const rest = payload.length - bytes;
          expect(await body(secondSource, sink, rest)).toEqual({ outcome: 'complete', bytes: rest });
          sink.end();
          client.end();
          expect((await received.all()).equals(payload)).toBe(true);
        }),
        { numRuns: 8 },
      );
    },
    60_000,
  );

  test('gives both ends back when the source falls silent', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    origin.write(Buffer.alloc(300_000));
    expect(await body(source, sink, MEGABYTE, { silenceMs: 100 })).toEqual({
      outcome: 'source-silent',
      bytes: 300_000,
    });
    await received.until(300_000);
    origin.write(Buffer.alloc(700_000));
    expect(await body(source, sink, 700_000)).toEqual({ outcome: 'complete', bytes: 700_000 });
    await received.until(MEGABYTE);
    expect(received.length()).toBe(MEGABYTE);
  });

  test('says when the sink does not read, and loses nothing', async () => {
    const { origin, source, sink, client, received } = await bodyEnds();
    client.pause();
    const payload = randomBytes(MORE_THAN_BUFFERS);
    writeAll(origin, payload);
    const { outcome, bytes } = await body(source, sink, payload.length, { stallMs: 200 });
    expect(outcome).toBe('sink-stalled');
    expect(bytes).toBeLessThan(payload.length);
    client.resume();
    const rest = payload.length - bytes;
    expect(await body(source, sink, rest)).toEqual({ outcome: 'complete', bytes: rest });
    sink.end();
    client.end();
    expect(await received.digest()).toBe(createHash('sha256').update(payload).digest('hex'));
  }, 60_000);

  test('is cancelled at any time, and the next one goes on at the exact byte', async () => {
    const { origin, source, sink, client, received } = await bodyEnds();
    client.pause();
    const payload = randomBytes(MORE_THAN_BUFFERS);
    writeAll(origin, payload);
    let done = 0;
    for (const isFirst of [true, false]) {
      const abort = new AbortController();
      let grown = 0;
      const onBytes = (bytes: number) => (grown += bytes);
      const moving = body(source, sink, payload.length - done, { signal: abort.signal, onBytes });
      if (isFirst) await expect.poll(() => grown).toBeGreaterThan(0);
      await stopsGrowing(() => grown);
      abort.abort();
      const { outcome, bytes } = await moving;
      expect(outcome).toBe('cancelled');
      expect(grown).toBe(bytes);
      done += bytes;
    }
    client.resume();
    const rest = payload.length - done;
    expect(await body(source, sink, rest)).toEqual({ outcome: 'complete', bytes: rest });
    sink.end();
    client.end();
    expect(await received.digest()).toBe(createHash('sha256').update(payload).digest('hex'));
  }, 60_000);

  test('leaves both ends alone when it is cancelled before it began', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    const signal = AbortSignal.abort();
    expect(await body(source, sink, 5, { signal })).toEqual({ outcome: 'cancelled', bytes: 0 });
    origin.write('bytes');
    expect(await body(source, sink, 5)).toEqual({ outcome: 'complete', bytes: 5 });
    expect((await received.until(5)).toString()).toBe('bytes');
  });

  test('tells which end broke, and leaves the other alive', async () => {
    const { origin, source, sink, client } = await bodyEnds();
    origin.write('partial');
    const moving = body(source, sink, MEGABYTE);
    client.resetAndDestroy();
    expect(await moving).toMatchObject({ outcome: 'sink-broke' });
    expect(source.destroyed).toBe(false);
    const other = await bodyEnds();
    origin.write('and so on');
    expect(await body(source, other.sink, 9)).toMatchObject({ outcome: 'complete' });
  });

  test('notices ends that were closed before it began', async () => {
    const broken = await bodyEnds();
    broken.sink.destroy();
    expect(await body(broken.source, broken.sink, 5)).toEqual({ outcome: 'sink-broke', bytes: 0 });
    const gone = await bodyEnds();
    gone.source.destroy();
    expect(await body(gone.source, gone.sink, 5)).toEqual({ outcome: 'source-broke', bytes: 0 });
    const ended = await bodyEnds();
    ended.origin.end();
    ended.source.resume();
    await once(ended.source, 'end');
    expect(await body(ended.source, ended.sink, 5)).toEqual({ outcome: 'source-ended', bytes: 0 });
    expect(ended.sink.destroyed).toBe(false);
  });

  test('notices that the caller destroys an end', async () => {
    for (const which of ['sink', 'source'] as const) {
      const ends = await bodyEnds();
      ends.origin.write('some');
      const moving = body(ends.source, ends.sink, MEGABYTE);
      await ends.received.until(4);
      ends[which].destroy();
      expect(await moving).toMatchObject({ outcome: `${which}-broke` });
    }
  });

  test('begins with what Node had read and what was put back', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    const payload = randomBytes(MEGABYTE);
    origin.write(payload);
    await once(source, 'readable');
    source.unshift('put back ');
    expect(await body(source, sink, payload.length + 9)).toMatchObject({ outcome: 'complete' });
    const all = await received.until(payload.length + 9);
    expect(all.equals(Buffer.concat([Buffer.from('put back '), payload]))).toBe(true);
  });

  test('takes what a source had sent before it ended, and still tells that it ended', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    origin.end('all there is');
    await once(source, 'readable');
    const first = await body(source, sink, 4);
    expect(first).toEqual({ outcome: 'complete', bytes: 4 });
    expect(await body(source, sink, MEGABYTE)).toEqual({ outcome: 'source-ended', bytes: 8 });
    expect((await received.until(12)).toString()).toBe('all there is');
    await expect.poll(() => source.readableEnded).toBe(true);
    expect(await body(source, sink, 1)).toEqual({ outcome: 'source-ended', bytes: 0 });
  });

  test('ends with the body: what the source says later is for its owner', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    origin.write(Buffer.alloc(MEGABYTE));
    expect(await body(source, sink, MEGABYTE)).toEqual({ outcome: 'complete', bytes: MEGABYTE });
    const atSource = receive(source);
    origin.end('next answer');
    expect((await atSource.all()).toString()).toBe('next answer');
    sink.write('own words');
    expect((await received.until(MEGABYTE + 9)).subarray(MEGABYTE).toString()).toBe('own words');
  });

  test('is not cut by the idle timeout of a socket that Node does not see moving', async () => {
    const { origin, source, sink, received } = await bodyEnds();
    for (const end of [source, sink]) {
      end.setTimeout(100);
      end.on('timeout', () => end.destroy());
    }
    origin.write('first');
    const moving = body(source, sink, 10);
    await received.until(5);
    await once(AbortSignal.timeout(300), 'abort');
    origin.write('later');
    expect(await moving).toEqual({ outcome: 'complete', bytes: 10 });
  });

  test('leaves no descriptor behind, 200 at once', async () => {
    const open = countDescriptors();
    const ends = await Promise.all(Array.from({ length: 200 }, () => bodyEnds()));
    const payload = randomBytes(300_000);
    const moved = ends.map(async ({ origin, source, sink, received }, index) => {
      origin.write(index % 2 === 0 ? payload : payload.subarray(0, 1000));
      if (index % 2 === 1) origin.end();
      const { outcome, bytes } = await body(source, sink, payload.length);
      expect((await received.until(bytes)).equals(payload.subarray(0, bytes))).toBe(true);
      return outcome;
    });
    const outcomes = await Promise.all(moved);
    expect(outcomes.filter((outcome) => outcome === 'complete').length).toBe(100);
    destroyAll();
    await expect.poll(countDescriptors).toBeLessThanOrEqual(open + 130);
  }, 60_000);
}
