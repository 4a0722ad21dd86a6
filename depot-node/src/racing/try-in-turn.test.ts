import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tryInTurn } from './try-in-turn.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Tries that the test settles by hand. */
function setUp(
  names: readonly string[],
  options: Pick<
    Parameters<typeof tryInTurn<string, string>>[1],
    'standingPatienceMs' | 'isOfChoice' | 'isOfTry'
  > = {},
) {
  const begun = new Map<
    string,
    {
      resolve: (text: string) => void;
      reject: (failure: Error) => void;
      stands: () => void;
      signal: AbortSignal;
    }
  >();
  const discarded: string[] = [];
  const overtaken: string[] = [];
  const parent = new AbortController();
  const result = tryInTurn(names, {
    attempt: (name, signal, onStands) =>
      new Promise<string>((resolve, reject) => {
        begun.set(name, { resolve, reject, stands: onStands, signal });
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
    patienceMs: 1000,
    signal: parent.signal,
    isPoor: (text) => text.startsWith('poor'),
    isFinal: (failure) => String(failure).includes('final'),
    ...options,
    onOvertaken: (name) => overtaken.push(name),
    discard: (text) => discarded.push(text),
  });
  result.catch(() => undefined);
  const of = (name: string) => {
    const found = begun.get(name);
    if (!found) throw new Error(`${name} has not begun`);
    return found;
  };
  return { result, of, discarded, overtaken, parent, names: () => [...begun.keys()] };
}
const turn = () => vi.advanceTimersByTimeAsync(0);

describe('one way after the other', () => {
  test('the next is tried when the one before has failed', async () => {
    const { result, of, names } = setUp(['one', 'two']);
    await turn();
    expect(names()).toEqual(['one']);
    of('one').reject(new Error('broken'));
    await turn();
    of('two').resolve('second');
    expect(await result).toBe('second');
  });

  test('the next is tried beside one that does not stand in time, and the first result wins', async () => {
    const { result, of, names } = setUp(['one', 'two', 'three']);
    await vi.advanceTimersByTimeAsync(999);
    expect(names()).toEqual(['one']);
    await vi.advanceTimersByTimeAsync(1);
    expect(names()).toEqual(['one', 'two']);
    of('one').resolve('first');
    expect(await result).toBe('first');
    expect(of('two').signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(5000);
    expect(names()).toEqual(['one', 'two']);
  });

  test('one that stands is waited for: what takes long is no fault of the way', async () => {
    const { of, names } = setUp(['one', 'two']);
    await turn();
    of('one').stands();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(names()).toEqual(['one']);
  });

  test('one that stands is waited for only as long as it is told, where it is told', async () => {
    const { of, names } = setUp(['one', 'two'], { standingPatienceMs: 5000 });
    await turn();
    of('one').stands();
    await vi.advanceTimersByTimeAsync(4999);
    expect(names()).toEqual(['one']);
    await vi.advanceTimersByTimeAsync(1);
    expect(names()).toEqual(['one', 'two']);
  });

  test('of those that ran when one succeeded, only what had its time and did not stand is told of', async () => {
    const { of, result, overtaken } = setUp(['silent', 'slow', 'broken', 'early', 'good']);
    await vi.advanceTimersByTimeAsync(2000);
    of('slow').stands();
    await vi.advanceTimersByTimeAsync(1000);
    of('broken').reject(new Error('broken'));
    await turn();
    of('early').stands();
    expect(overtaken).toEqual([]);
    of('early').resolve('there');
    expect(await result).toBe('there');
    expect(overtaken).toEqual(['silent']);
  });

  test('nobody is told of as overtaken where no other way stood either', async () => {
    const { result, overtaken, parent } = setUp(['one', 'two']);
    await vi.advanceTimersByTimeAsync(5000);
    parent.abort();
    await expect(result).rejects.toThrow('aborted');
    expect(overtaken).toEqual([]);
  });

  test('one whose failure says nothing of it is tried anew at once, also where all others have begun, and has its own time to stand', async () => {
    const isOfTry = (failure: unknown) => String(failure).includes('stale');
    const only = setUp(['one'], { isOfTry });
    await vi.advanceTimersByTimeAsync(1000);
    only.of('one').reject(new Error('stale'));
    await turn();
    only.of('one').resolve('anew');
    expect(await only.result).toBe('anew');
    const { of, names, result } = setUp(['one', 'two'], { isOfTry });
    await turn();
    of('one').stands();
    of('one').reject(new Error('stale'));
    await vi.advanceTimersByTimeAsync(999);
    expect(names()).toEqual(['one']);
    await vi.advanceTimersByTimeAsync(1);
    expect(names()).toEqual(['one', 'two']);
    of('one').reject(new Error('broken'));
    of('two').reject(new Error('last'));
    await expect(result).rejects.toThrow('last');
  });

  test('a final failure ends it, the last failure otherwise', async () => {
    const final = setUp(['one', 'two']);
    await turn();
    final.of('one').reject(new Error('final'));
    await expect(final.result).rejects.toThrow('final');
    expect(final.names()).toEqual(['one']);
    const all = setUp(['one', 'two']);
    await turn();
    all.of('one').reject(new Error('first'));
    await turn();
    all.of('two').reject(new Error('second'));
    await expect(all.result).rejects.toThrow('second');
  });

  test('whoever gives up ends all tries, and what comes too late is given away', async () => {
    const { result, parent, of, discarded } = setUp(['one', 'two']);
    await vi.advanceTimersByTimeAsync(1000);
    of('one').resolve('first');
    of('two').resolve('late');
    expect(await result).toBe('first');
    await turn();
    expect(discarded).toEqual(['late']);
    const given = setUp(['one', 'two']);
    await turn();
    given.parent.abort();
    await expect(given.result).rejects.toThrow('aborted');
    expect(given.names()).toEqual(['one']);
    expect(parent.signal.aborted).toBe(false);
  });

  test('a poor result gives way to a better one of a try that runs beside it', async () => {
    const { result, of, discarded, names } = setUp(['one', 'two', 'three']);
    await vi.advanceTimersByTimeAsync(1000);
    of('one').stands();
    of('two').resolve('poor');
    // One that stands is waited for as long as it takes.
    await vi.advanceTimersByTimeAsync(60_000);
    of('one').resolve('good');
    expect(await result).toBe('good');
    expect(discarded).toEqual(['poor']);
    expect(names()).toEqual(['one', 'two']);
  });

  test('of poor results the first is taken, once nothing better can come', async () => {
    const { result, of, discarded } = setUp(['one', 'two']);
    await vi.advanceTimersByTimeAsync(1000);
    of('two').resolve('poor two');
    of('one').resolve('poor one');
    expect(await result).toBe('poor two');
    expect(discarded).toEqual(['poor one']);
    const alone = setUp(['one', 'two']);
    await turn();
    alone.of('one').resolve('poor');
    expect(await alone.result).toBe('poor');
    expect(alone.names()).toEqual(['one']);
    const broken = setUp(['one', 'two']);
    await vi.advanceTimersByTimeAsync(1000);
    broken.of('two').resolve('poor');
    broken.of('one').reject(new Error('final'));
    expect(await broken.result).toBe('poor');
  });

  test('behind a poor result that is of its choice alone the next is tried', async () => {
    const isOfChoice = (text: string) => text.startsWith('poor only');
    const { result, of, discarded } = setUp(['one', 'two', 'three'], { isOfChoice });
    await turn();
    of('one').resolve('poor only one');
    await turn();
    of('two').reject(new Error('final'));
    await turn();
    of('three').resolve('good');
    expect(await result).toBe('good');
    expect(discarded).toEqual(['poor only one']);
    for (const last of ['poor only two', 'poor']) {
      const refused = setUp(['one', 'two'], { isOfChoice });
      await turn();
      refused.of('one').resolve('poor only one');
      await turn();
      refused.of('two').resolve(last);
      expect(await refused.result).toBe('poor only one');
      expect(refused.discarded).toEqual([last]);
    }
    const broken = setUp(['one', 'two'], { isOfChoice });
    await turn();
    broken.of('one').resolve('poor only one');
    await turn();
    broken.of('two').reject(new Error('broken'));
    expect(await broken.result).toBe('poor only one');
  });

  test.each(['first', 'last'])(
    'a poor result of its choice alone that comes %s waits only once more for one that does not stand',
    async (which) => {
      const { result, of } = setUp(['one', 'two'], { isOfChoice: () => true });
      const [poor, hanging] = which === 'first' ? (['one', 'two'] as const) : (['two', 'one'] as const);
      await vi.advanceTimersByTimeAsync(which === 'first' ? 0 : 1000);
      of(poor).resolve('poor');
      await vi.advanceTimersByTimeAsync(2000);
      expect(await result).toBe('poor');
      expect(of(hanging).signal.aborted).toBe(true);
    },
  );

  test('a poor result waits only once more for one that does not stand', async () => {
    const { result, of, names } = setUp(['one', 'two', 'three', 'four']);
    await vi.advanceTimersByTimeAsync(2000);
    of('three').resolve('poor');
    of('two').stands();
    let isTaken = false;
    void result.then(() => {
      isTaken = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(isTaken).toBe(false);
    of('two').reject(new Error('broken'));
    expect(await result).toBe('poor');
    expect(of('one').signal.aborted).toBe(true);
    expect(names()).toEqual(['one', 'two', 'three']);
  });

  test('what ends all tries ends those with a poor result, too, which is given away', async () => {
    const final = setUp(['one', 'two']);
    await vi.advanceTimersByTimeAsync(1000);
    final.of('two').resolve('poor');
    await turn();
    final.parent.abort();
    await expect(final.result).rejects.toThrow('aborted');
    expect(final.discarded).toEqual(['poor']);
  });

  test('what came in while the event loop was busy is read before another begins', async () => {
    vi.useRealTimers();
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const begun: string[] = [];
    const result = tryInTurn(['one', 'two'], {
      attempt: async (name) => {
        begun.push(name);
        const socket = connect(port, '127.0.0.1');
        process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100));
        await once(socket, 'connect');
        socket.destroy();
        return name;
      },
      patienceMs: 20,
      signal: new AbortController().signal,
      isFinal: () => false,
      discard: () => undefined,
    });
    expect(await result).toBe('one');
    expect(begun).toEqual(['one']);
    server.close();
  });

  test('nothing to try is a failure', async () => {
    await expect(setUp([]).result).rejects.toThrow('no choice');
  });
});
