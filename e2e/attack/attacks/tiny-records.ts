import type { Socket } from 'node:net';
import type { Attack } from '../attack.ts';
import type { Ground, Target } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';

const AT_ONCE = 40;
/** What takes most of what may come before an answer: the head of a download, the body of a plan. */
const BEGINNINGS: readonly (readonly [Target, string])[] = [
  ['d1', 'GET /a HTTP/1.1\r\nHost: depot\r\nX-Long: '],
  ['master', 'POST /v1/plans HTTP/1.1\r\nHost: master\r\nContent-Length: 65536\r\n\r\n'],
];

async function sendBytes(ground: Ground, target: Target, beginning: string): Promise<void> {
  const socket = await ground.open(target);
  ground.tally.case();
  socket.resume().once('end', () => socket.destroy());
  socket.write(beginning);
  while (!ground.signal.aborted && socket.writable && (await sendByte(socket)));
  ground.tally.answer(ground.signal.aborted ? 'still taken' : 'cut off');
  socket.destroy();
}

/** What is written before the one before it has gone would share its record. */
function sendByte(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(false);
    socket.once('close', giveUp);
    socket.write('a', (failure) => {
      socket.off('close', giveUp);
      resolve(!failure);
    });
  });
}

export const TINY_RECORDS: Attack = {
  name: 'tiny-records',
  does: `sends the head of a download and the body of a plan in TLS records of one byte, over ${AT_ONCE} connections at a time, as fast as it can`,
  promise: 'the others are served meanwhile',
  worlds: ['tls'],
  quick: ['tls'],
  strike: (ground) =>
    keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const [target, beginning] = BEGINNINGS[turn % BEGINNINGS.length] ?? ['d1', ''];
      await sendBytes(ground, target, beginning);
    }),
};
