import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { beginKeyUpdates } from '@longhaul/shared/service';
import type { Attack } from '../attack.ts';
import type { Ground, Target } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';

const AT_ONCE = 4;
/** Of 27 bytes each, more than anybody takes: what depots count, and what the master sees ten times a second. */
const UPDATES = 1_000;
/** In one turn: to make one takes longer than to read it. */
const MADE_AT_ONCE = 50;
/** A connection that stands so long behind the last of them is not going to be left. */
const PATIENCE_MS = 2_000;

/** Secures a connection, makes new keys in advance, and sends all of them in one piece. */
async function sendKeys(ground: Ground, target: Target): Promise<void> {
  const socket = await ground.open(target, { tls: false });
  const updates = await beginKeyUpdates(socket).catch(() => undefined);
  if (!updates) {
    ground.tally.answer('not taken');
    socket.destroy();
    return;
  }
  const made: Buffer[] = [];
  while (made.length < UPDATES && !ground.signal.aborted && !socket.destroyed) {
    for (let key = 0; key < MADE_AT_ONCE; key += 1) made.push(updates.next());
    await nextTurn();
  }
  ground.tally.case();
  socket.write(Buffer.concat(made));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const isLeft = await Promise.race([closed.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
  ground.tally.answer(isLeft ? 'cut off' : 'still there');
  if (!isLeft && made.length >= UPDATES)
    ground.tally.broke('who sends new keys and nothing else is left', target);
  socket.destroy();
}

export const KEY_UPDATES: Attack = {
  name: 'key-updates',
  does: `takes ${UPDATES} new keys in one piece over each of ${AT_ONCE} TLS connections at a time, to a depot and to the master, and says nothing else`,
  promise: 'who sends records with nothing inside is left, and the others are served meanwhile',
  worlds: ['tls'],
  quick: ['tls'],
  strike: (ground) =>
    keepAtIt(AT_ONCE, ground.signal, (turn) => sendKeys(ground, turn % 2 === 0 ? 'd1' : 'master')),
};
