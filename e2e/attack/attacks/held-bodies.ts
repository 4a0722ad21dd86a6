import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_BODY_BYTES } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import type { Ground } from '../attacker/ground.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

/** More than one network may have that have brought no whole request. */
const CONNECTIONS = 250;
const HOLD_MS = 500;
const HEAD = `POST /v1/depots/d1/heartbeat HTTP/1.1\r\nHost: master\r\nContent-Length: ${MAX_BODY_BYTES}\r\n\r\n`;
/** JSON that takes longest for its bytes. */
const ALL_BUT_THE_LAST = '['.repeat(MAX_BODY_BYTES - 1);

/** Opens connections that wait for the last byte of a body each, and sends it over all of them at once. */
async function holdAndEnd(ground: Ground): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => ground.open('master')));
  const held = sockets.filter(({ destroyed }) => !destroyed);
  for (const socket of held) {
    ground.tally.case();
    socket.write(HEAD + ALL_BUT_THE_LAST);
  }
  await Promise.race([Promise.all(held.map(sent)), delay(4 * HOLD_MS, undefined, { ref: false })]);
  await delay(HOLD_MS, undefined, { signal: ground.signal }).catch(() => undefined);
  const answers = held.map((socket) => readHead(socket, { patienceMs: 4 * HOLD_MS }));
  for (const socket of held) if (socket.writable) socket.write(']');
  for (const answer of await Promise.all(answers)) ground.tally.answer(verdictOf(answer));
  for (const socket of sockets) socket.destroy();
}

/** Resolves when all has gone that was written, or nothing more can. */
function sent(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.writableLength === 0 || socket.destroyed) resolve();
    socket.once('drain', resolve).once('close', () => resolve());
  });
}

export const HELD_BODIES: Attack = {
  name: 'held-bodies',
  does: `sends all but the last byte of ${CONNECTIONS} bodies of ${MAX_BODY_BYTES / 1024} KiB of nested JSON to the master, holds them, and then sends the last one of all at once, again and again`,
  promise:
    'bodies that wait are bounded over all and for a network, and those that end together do not stop the master',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['master-busy'],
  strike: async (ground) => {
    while (!ground.signal.aborted) await holdAndEnd(ground);
  },
};
