import type { Attack } from '../attack.ts';
import { pace } from '../attacker/pace.ts';

const PER_SECOND = 60;

export const HANDSHAKE_FLOODS: Attack = {
  name: 'handshake-floods',
  does: `makes ${PER_SECOND} TLS handshakes a second with a depot and with the master, and leaves`,
  promise: 'the others are served meanwhile',
  worlds: ['tls'],
  quick: [],
  strike: async (ground) => {
    let made = 0;
    await pace(PER_SECOND, ground.signal, () => {
      made += 1;
      ground.tally.case();
      void ground.open(made % 2 === 0 ? 'd1' : 'master').then((socket) => {
        ground.tally.answer(socket.destroyed ? 'not taken' : 'taken');
        socket.destroy();
      });
    });
  },
};
