import { describe, expect, test } from 'vitest';
import { SetUpRoom } from './set-up-room.ts';

const NEVER = new AbortController().signal;
const FIRST = false;
const FURTHER = true;

/** Who has come in so far, in order. */
function queue(room: SetUpRoom) {
  const inside: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string, client: string, isFurther: boolean) => {
    leaves.set(name, await room.enter(client, isFurther, NEVER));
    inside.push(name);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    inside,
    enter: (...who: Parameters<typeof enter>) => {
      void enter(...who);
      return settled();
    },
    leave: (name: string) => {
      leaves.get(name)?.();
      return settled();
    },
  };
}

describe('room for chains that are being built', () => {
  test('lets those who find none wait, and first connections in before lanes', async () => {
    const { inside, enter, leave } = queue(new SetUpRoom(4, 60_000));
    await enter('a', 'here', FIRST);
    await enter('b', 'here', FURTHER);
    await enter('lane', 'here', FURTHER);
    await enter('download', 'here', FIRST);
    expect(inside).toEqual(['a', 'b']);
    await leave('a');
    expect(inside).toEqual(['a', 'b', 'download']);
    await leave('b');
    expect(inside).toEqual(['a', 'b', 'download', 'lane']);
  });

  test('has some left for other networks, however many of one wait', async () => {
    const { inside, enter } = queue(new SetUpRoom(4, 60_000));
    for (let count = 0; count < 10; count += 1) await enter('crowd', 'here', FIRST);
    await enter('other', 'there', FURTHER);
    expect(inside).toEqual(['crowd', 'crowd', 'other']);
  });

  test('refuses those for whom there is none in time, and forgets those who leave', async () => {
    const room = new SetUpRoom(2, 1);
    const leave = await room.enter('here', FIRST, NEVER);
    await expect(room.enter('here', FIRST, NEVER)).rejects.toMatchObject({ code: 'client-busy' });
    const gone = new AbortController();
    const given = room.enter('here', FIRST, gone.signal);
    gone.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    leave();
    (await room.enter('here', FIRST, NEVER))();
  });

  test('has a crowd begin a few at a time, so that others have their turns in between', async () => {
    const room = new SetUpRoom(1000, 60_000);
    const begun: string[] = [];
    const enter = (name: string, isFurther: boolean) =>
      room.enter('here', isFurther, NEVER).then(() => begun.push(name));
    for (let count = 0; count < 40; count += 1) void enter('lane', FURTHER);
    for (let count = 0; count < 40; count += 1) void enter('download', FIRST);
    const inTurns: number[] = [];
    for (let before = 0; begun.length < 80; before = begun.length) {
      await new Promise(setImmediate);
      inTurns.push(begun.length - before);
    }
    // The first look may see two turns.
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(8);
    expect(begun.indexOf('lane', 4), 'but for those that found nobody before them').toBe(44);
  });
});
