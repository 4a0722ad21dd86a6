import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Beginnings } from './beginnings.ts';

/** What has begun so far, in order, of downloads that come as connections of their own. */
function crowd() {
  const beginnings = new Beginnings();
  const begun: string[] = [];
  return {
    begun,
    come: (name: string, network: string, connection = new PassThrough()) =>
      beginnings.take(network, connection, async () => {
        begun.push(name);
      }),
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const closed = (connection: PassThrough) => new Promise((resolve) => connection.once('close', resolve));

describe('downloads that come at once', () => {
  test('begin a few in each turn of the event loop, in the order in which they came', async () => {
    const { begun, come } = crowd();
    const names = Array.from({ length: 40 }, (_, index) => String(index));
    const all = Promise.all(names.map((name) => come(name, 'here')));
    const inTurns = [begun.length];
    while (begun.length < names.length) {
      const before = begun.length;
      await nextTurn();
      inTurns.push(begun.length - before);
    }
    // Between two looks there may be two turns.
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(8);
    expect(begun).toEqual(names);
    await all;
  });

  test('from one network let the next one of another network begin before most of them', async () => {
    const { begun, come } = crowd();
    for (let count = 0; count < 40; count += 1) void come('crowd', 'here');
    await come('other', 'there');
    expect(begun.indexOf('other')).toBeLessThan(8);
  });

  test('never begin when their client has left before, and hold nothing of it', async () => {
    const { begun, come } = crowd();
    for (let count = 0; count < 4; count += 1) void come('before', 'here');
    const [gone, broken, other] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const all = Promise.all([
      come('gone', 'here', gone),
      come('broken', 'there', broken),
      come('other', 'here', other),
    ]);
    const listening = other.listenerCount('close');
    gone.destroy();
    broken.destroy(new Error('reset by peer'));
    await Promise.all([closed(gone), closed(broken), all]);
    expect(begun).toEqual(['before', 'before', 'before', 'before', 'other']);
    expect(other.listenerCount('close')).toBe(listening - 1);
    expect(other.listenerCount('error')).toBe(0);
  });
});
