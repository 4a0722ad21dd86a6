import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { LonghaulError, MAX_ORIGINS_TRIED } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { lookUp } from '../names/look-up.ts';
import type { Dial, Dialled, DialTarget } from '../sockets/dial.ts';
import { OriginReach } from './origin-reach.ts';

const ORIGIN = { host: 'origin.test', port: 443 };
const TARGET: DialTarget = { purpose: 'origin', ...ORIGIN };
const REACHED = 'reached';
const AWAY = { ...ORIGIN, isReached: false };

/** A depot whose clock is moved, and whose dials end as is said. */
function start() {
  let nowMs = 0;
  let outcome: unknown = REACHED;
  const sockets: Socket[] = [];
  let takesMs = 0;
  let reports = 0;
  const room = { isLeft: true };
  const reach = new OriginReach({
    report: () => (reports += 1),
    hasDescriptor: () => room.isLeft,
    steadyMs: () => nowMs,
  });
  const dial: Dial = reach.watch(async (): Promise<Dialled> => {
    nowMs += takesMs;
    if (outcome !== REACHED) throw outcome;
    const socket = new Socket();
    sockets.push(socket);
    return { socket, rttMs: 1 };
  });
  return {
    reach,
    room,
    reports: () => reports,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Ends the oldest connection. */
    hangUp: async () => {
      const socket = sockets.shift();
      if (!socket) throw new Error('none stands');
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    },
    /** Dials once; how that ends, by a code or a reason, is the caller's, too. */
    dial: async (ends: unknown, { target = TARGET, signal = new AbortController().signal, ms = 0 } = {}) => {
      outcome = ends;
      takesMs = ms;
      return dial(target, signal).catch((failure: unknown) => {
        expect(failure).toBe(ends);
      });
    },
  };
}

const failure = (code: ConstructorParameters<typeof LonghaulError>[0], cause?: unknown) =>
  new LonghaulError(code, { detail: ORIGIN.host, cause });
const errno = (code: string) => Object.assign(new Error(code), { code });

describe('what a depot tells of origins', () => {
  test.each(['origin-unresolvable', 'origin-unreachable', 'origin-timeout', 'address-not-allowed'] as const)(
    'names one to which it cannot connect (%s), at once, until it is answered, and again when it can',
    async (code) => {
      const { reach, dial, reports, pass } = start();
      await dial(failure(code));
      expect(reports()).toBe(1);
      const told = reach.untold();
      expect(told).toEqual([AWAY]);
      expect(reach.untold()).toEqual([AWAY]);
      reach.noteTold(told);
      expect(reach.untold()).toEqual([]);
      pass(5000);
      await dial(REACHED);
      expect(reports()).toBe(2);
      expect(reach.untold()).toEqual([{ ...ORIGIN, isReached: true }]);
    },
  );

  test('says what is so when it changes while an answer is awaited', async () => {
    const { reach, dial } = start();
    await dial(failure('origin-timeout'));
    const told = reach.untold();
    await dial(REACHED);
    reach.noteTold(told);
    expect(reach.untold()).toEqual([{ ...ORIGIN, isReached: true }]);
  });

  test('names none that it has reached within the minute: that may take no more connections', async () => {
    const { reach, dial, hangUp, pass } = start();
    await dial(REACHED);
    await hangUp();
    pass(59_999);
    await dial(failure('origin-unreachable'));
    expect(reach.untold()).toEqual([]);
    pass(1);
    await dial(failure('origin-unreachable'));
    expect(reach.untold()).toEqual([AWAY]);
  });

  test('names none to which a connection stands, however old, or stood within the minute', async () => {
    const { reach, dial, hangUp, pass } = start();
    await dial(REACHED);
    await dial(REACHED);
    const fail = async () => {
      await dial(failure('origin-unreachable'));
      return reach.untold();
    };
    pass(61_000);
    expect(await fail()).toEqual([]);
    await hangUp();
    pass(61_000);
    expect(await fail()).toEqual([]);
    await hangUp();
    pass(59_999);
    expect(await fail()).toEqual([]);
    pass(1);
    expect(await fail()).toEqual([AWAY]);
  });

  test('names none for what is its own lack, nor depots and masters', async () => {
    const { reach, dial } = start();
    for (const code of ['EMFILE', 'EAGAIN', 'EADDRNOTAVAIL'])
      await dial(failure('origin-unreachable', errno(code)));
    await dial(failure('resolver-busy'));
    await dial(failure('next-depot-unreachable'), { target: { ...TARGET, purpose: 'depot' } });
    expect(reach.untold()).toEqual([]);
  });

  test('names none any more that it has not told of when its own network turns out to be away, but the next time', async () => {
    const { reach, dial } = start();
    const other = { host: 'other.test', port: 443 };
    await dial(failure('origin-timeout'), { target: { ...TARGET, ...other } });
    await dial(REACHED, { target: { ...TARGET, ...other } });
    await dial(failure('origin-timeout'));
    reach.doubt();
    expect(reach.untold()).toEqual([{ ...other, isReached: true }]);
    await dial(failure('origin-timeout'));
    expect(reach.untold()).toContainEqual(AWAY);
  });

  test('names one whose name servers cannot be asked, but not where descriptors were lacking lately', async () => {
    const { reach, dial, room, pass } = start();
    const nobody = createSocket('udp4').bind(0, '127.0.0.1');
    await once(nobody, 'listening');
    const server = `127.0.0.1:${nobody.address().port}`;
    nobody.close();
    await once(nobody, 'close');
    // Node says the same where the socket to the name server cannot be opened.
    const cause: unknown = await lookUp(ORIGIN.host, [server], new AbortController().signal).catch(
      (reason: unknown) => reason,
    );
    expect(cause).toMatchObject({ code: 'ECONNREFUSED' });
    const unasked = failure('origin-unresolvable', cause);
    room.isLeft = false;
    await dial(unasked);
    room.isLeft = true;
    pass(9_999);
    await dial(unasked);
    pass(1);
    await dial(failure('origin-unreachable', errno('EMFILE')));
    pass(9_999);
    await dial(unasked);
    expect(reach.untold()).toEqual([]);
    pass(1);
    await dial(unasked);
    expect(reach.untold()).toEqual([AWAY]);
  });

  test('names one that has addresses only of a family that it lacks itself', async () => {
    const { reach, dial } = start();
    const cause = (address: string) => Object.assign(errno('EADDRNOTAVAIL'), { address });
    await dial(failure('origin-unreachable', cause('192.0.2.1')));
    expect(reach.untold()).toEqual([]);
    await dial(failure('origin-unreachable', cause('2001:db8::1')));
    expect(reach.untold()).toEqual([AWAY]);
  });

  test('names one that nobody waited for any longer only where it was silent for long', async () => {
    const { reach, dial } = start();
    const signal = AbortSignal.abort('who asked is gone');
    await dial(failure('origin-unreachable'), { signal, ms: 3000 });
    expect(reach.untold()).toEqual([]);
    await dial(signal.reason, { signal, ms: 4000 });
    expect(reach.untold()).toEqual([AWAY]);
  });

  test('asks for no heartbeat each, and tells of no more than one may have, however many fail', async () => {
    const { reach, dial, reports } = start();
    for (let name = 0; name < 5000; name += 1)
      await dial(failure('origin-unresolvable'), { target: { ...TARGET, host: `no-${name}.test` } });
    expect(reports()).toBe(1);
    let told = 0;
    for (let some = reach.untold(); some.length > 0; some = reach.untold()) {
      expect(some.length).toBeLessThanOrEqual(MAX_ORIGINS_TRIED);
      told += some.length;
      reach.noteTold(some);
    }
    expect(told).toBe(1000);
  });
});
