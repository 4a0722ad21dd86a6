import type { Attack } from '../attack.ts';
import { pace } from '../attacker/pace.ts';

const PER_SECOND = 800;

export const CONNECTION_CHURN: Attack = {
  name: 'connection-churn',
  does: `opens ${PER_SECOND} connections a second to a depot and to the master, and resets each at once`,
  promise: 'the others are served meanwhile, and nothing stays',
  worlds: ['splice'],
  quick: [],
  strike: async (ground) => {
    let made = 0;
    await pace(PER_SECOND, ground.signal, () => {
      made += 1;
      ground.tally.case();
      void ground.open(made % 2 === 0 ? 'd1' : 'master').then((socket) => {
        ground.tally.answer(socket.destroyed ? 'not taken' : 'taken');
        socket.resetAndDestroy();
      });
    });
  },
};
