import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { pour, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 4;
const INTERIM = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(100);

export const INTERIM_FLOODS: Attack = {
  name: 'interim-floods',
  does: `answers ${AT_ONCE} downloads at a time with interim answers (103) without end`,
  promise: 'an origin does not get a core by answers that are none',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['origin-bad-answer'],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket }) => void pour(ground, socket, INTERIM));
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const via = turn % 2 === 0 ? ['d1'] : ['d2', 'd1'];
      const download = await ground.plan(`http://a.hostile.example${ground.path(1)}`, { via });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    });
  },
};
