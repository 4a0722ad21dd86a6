import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PendingStream } from './pending-stream.ts';

function setUp() {
  const below = new PassThrough();
  const stream = new PendingStream();
  stream.attach(below);
  return { below, stream };
}

describe('a stream whose reader finds that what comes costs more than its bytes do', () => {
  test('gives it small portions that it can be held after, and loses nothing, also when the end has come', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000 }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (chunks, endsAtOnce) => {
        const { below, stream } = setUp();
        const portions: Buffer[] = [];
        stream.on('data', (portion: Buffer) => {
          portions.push(portion);
          stream.cutSmall();
          stream.hold();
          setImmediate(() => stream.release());
        });
        const ended = once(stream, 'end');
        for (const chunk of chunks) {
          below.write(chunk);
          if (!endsAtOnce) await nextTurn();
        }
        below.end();
        await ended;
        expect(Buffer.concat(portions).equals(Buffer.concat(chunks))).toBe(true);
        expect(Math.max(...portions.map(({ length }) => length))).toBeLessThanOrEqual(4096);
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });

  test('passes nothing on while it is held, not even the end', async () => {
    const { below, stream } = setUp();
    let comeBytes = 0;
    let hasEnded = false;
    stream.on('data', ({ length }: Buffer) => {
      comeBytes += length;
      stream.cutSmall();
      stream.hold();
    });
    stream.once('end', () => {
      hasEnded = true;
    });
    // It flows by then, as under HTTP.
    await nextTurn();
    below.end(Buffer.alloc(65_536));
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(comeBytes).toBe(4096);
    expect(hasEnded).toBe(false);
  });
});

test('a stream whose reader has no reason against it soon passes on what comes as it comes', async () => {
  const { below, stream } = setUp();
  const sizes: number[] = [];
  stream.on('data', ({ length }: Buffer) => sizes.push(length));
  for (let count = 0; count < 3; count += 1) {
    below.write(Buffer.alloc(65_536));
    await nextTurn();
  }
  below.end();
  await once(stream, 'end');
  expect(sizes.at(-1)).toBe(65_536);
  expect(sizes.length).toBeLessThan(10);
});

test('what is taken from below it may break before anybody listens, and ends nothing but itself', async () => {
  const { below, stream } = setUp();
  stream.hold();
  below.write('kept');
  await nextTurn();
  const taken = stream.detach();
  const closed = new Promise((resolve) => below.once('close', resolve));
  taken?.destroy(new Error('reset'));
  await closed;
  expect(taken?.destroyed).toBe(true);
});
