import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const TUNNELS = 60;
const PAUSE_MS = 20;

export const TINY_PACKETS: Attack = {
  name: 'tiny-packets',
  does: `sends single bytes both ways through ${TUNNELS} tunnels, ${(TUNNELS * 1000) / PAUSE_MS} packets a second`,
  promise: 'a tunnel that carries next to nothing costs next to nothing',
  worlds: ['splice', 'streams'],
  quick: [],
  strike: async (ground) => {
    const drip = async (socket: Socket) => {
      while (!ground.signal.aborted && socket.writable) {
        socket.write('x');
        await delay(PAUSE_MS * 2);
      }
    };
    await startHostileOrigin(ground, ({ socket }) => void drip(socket));
    await Promise.all(
      Array.from({ length: TUNNELS }, async (_, at) => {
        const plan = await ground.planTunnel(`http://t${at}.hostile.example/`, { via: ['d2', 'd1'] });
        const socket = await ground.open('d1');
        const authority = `t${at}.hostile.example:80`;
        socket.write(
          `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: Longhaul ${plan?.ticket}\r\n\r\n`,
        );
        const verdict = verdictOf(await readHead(socket));
        ground.tally.case();
        ground.tally.answer(verdict);
        if (verdict !== 'served') return;
        socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await drip(socket);
      }),
    );
  },
};
