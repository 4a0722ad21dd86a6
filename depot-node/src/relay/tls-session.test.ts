import { constants } from 'node:os';
import { expect, test } from 'vitest';
import type { TlsEnd } from '../tls/tls-end.ts';
import { createBufferPool } from './buffer-pool.ts';
import type { FlowComponents } from './flow.ts';
import { TlsSession } from './tls-session.ts';

const { EAGAIN } = constants.errno;
const PLAIN = 20;

/** A session that goes on, of which Node has written so many bytes and closed its side. */
function closedSession(writtenBytes: number) {
  let leftBytes = writtenBytes;
  const peer = { roomBytes: 0, isReset: false };
  const kernel = {
    read: (_descriptor: number, _address: number, sizeBytes: number) => {
      const taken = Math.min(leftBytes, sizeBytes);
      leftBytes -= taken;
      return taken;
    },
    addressOf: () => 4096,
    isResetOnClose: () => peer.isReset,
  };
  const tls = {
    descriptor: 10,
    isPlain: false,
    readable: false,
    writable: true,
    failed: false,
    write: (_address: number, sizeBytes: number) => {
      const given = Math.min(peer.roomBytes, sizeBytes);
      peer.roomBytes -= given;
      return given > 0 ? given : -EAGAIN;
    },
    resetOnClose: (isReset: boolean) => (peer.isReset = isReset),
  };
  const nothing = new Uint8Array(0);
  const state = {
    connection: 1,
    isNew: false,
    unread: nothing,
    unsent: nothing,
    isUpOpen: true,
    isDownOpen: true,
    hasEnded: false,
  };
  const session = new TlsSession(
    { type: 'secure', id: 1, role: 'server', descriptor: 10, plain: PLAIN, context: 0, head: nothing, state },
    tls as unknown as TlsEnd,
    {
      kernel,
      buffers: createBufferPool(kernel),
      enqueue: () => undefined,
      onSecured: () => undefined,
    } as unknown as FlowComponents & ConstructorParameters<typeof TlsSession>[2],
  );
  session.closeSoon(0);
  const turnsAt = (nowMs: number) => {
    tls.writable = true;
    let turn = session.turn(nowMs);
    while (turn === 'again') turn = session.turn(nowMs);
    return turn;
  };
  return { session, peer, turnsAt };
}

test('a connection that Node has closed sends all that was written, however slowly its peer reads', () => {
  const { session, peer, turnsAt } = closedSession(400_000);
  for (let seconds = 0; seconds < 400; seconds += 20) {
    expect(turnsAt(seconds * 1000)).toBe('wait');
    expect(session.expired(seconds * 1000)).toBeUndefined();
    peer.roomBytes = 19_000;
  }
  peer.roomBytes = 400_000;
  expect(turnsAt(400_000)).toEqual({ end: 'complete' });
});

test('is reset when its peer has taken nothing for long', () => {
  const { session, peer, turnsAt } = closedSession(400_000);
  peer.roomBytes = 1000;
  expect(turnsAt(100_000)).toBe('wait');
  expect(session.expired(279_999)).toBeUndefined();
  expect([session.expired(280_000), peer.isReset]).toEqual(['silent', true]);
});

test('is reset by the end of its thread while its peer has not taken all that Node wrote', () => {
  const cut = closedSession(400_000);
  cut.peer.roomBytes = 100_000;
  expect(cut.turnsAt(1000)).toBe('wait');
  cut.session.finish();
  expect(cut.peer.isReset).toBe(true);

  const whole = closedSession(400_000);
  whole.peer.roomBytes = 400_000;
  expect(whole.turnsAt(1000)).toEqual({ end: 'complete' });
  whole.session.finish();
  expect(whole.peer.isReset).toBe(false);
});
