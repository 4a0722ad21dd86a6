import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import type { Target } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';

const CONNECTIONS = 6000;
const PER_SECOND = 1500;
const DRIP_MS = 2000;
/** The beginning of a record that announces a handshake of 512 bytes, of which one comes now and then. */
const BEGINNING = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
const TARGETS: readonly Target[] = ['d1', 'master'];

export const HALF_HANDSHAKES: Attack = {
  name: 'half-handshakes',
  does: `begins ${CONNECTIONS} TLS handshakes at a depot and at the master, byte by byte, and ends none`,
  promise: 'who has not come through a handshake holds next to nothing, and not for long',
  worlds: ['tls'],
  quick: ['tls'],
  strike: async (ground) => {
    const held = new Set<Socket>();
    let begun = 0;
    const begin = async (target: Target) => {
      const socket = await ground.open(target, { tls: false }).catch(() => undefined);
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
        for (const socket of held) socket.write(Buffer.of(0));
      }
    };
    await Promise.all([
      drip(),
      pace(PER_SECOND, ground.signal, () => {
        if (begun >= CONNECTIONS) return;
        begun += 1;
        ground.tally.case();
        void begin(TARGETS[begun % TARGETS.length] ?? 'd1');
      }),
    ]);
  },
};
