import type { Socket } from 'node:net';
import type { Ground } from './ground.ts';
import { pace } from './pace.ts';

/** Opens so many connections a second to a depot and to the master in turn, and has each left as soon as it stands. */
export async function comeAndGo(
  ground: Ground,
  perSecond: number,
  leave: (socket: Socket) => void,
): Promise<void> {
  let made = 0;
  await pace(perSecond, ground.signal, () => {
    made += 1;
    ground.tally.case();
    void ground.open(made % 2 === 0 ? 'd1' : 'master').then((socket) => {
      ground.tally.answer(socket.destroyed ? 'not taken' : 'taken');
      leave(socket);
    });
  });
}
