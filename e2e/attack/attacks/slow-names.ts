import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 40;

export const SLOW_NAMES: Attack = {
  name: 'slow-names',
  does: `keeps ${AT_ONCE} downloads going from hosts whose names no name server answers for, at entry and exit depots`,
  promise: 'other names are found at once, and the depot its master',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['resolver-busy'],
  strike: (ground) =>
    keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const via = turn % 2 === 0 ? ['d1'] : ['d2', 'd1'];
      const download = await ground.plan(`http://n${turn}.slow.example/asked-${turn}.bin`, { via });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    }),
};
