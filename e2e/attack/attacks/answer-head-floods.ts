import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { pour, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 8;
const HEADER_LINES = Buffer.from('a:b\r\n'.repeat(5000));

export const ANSWER_HEAD_FLOODS: Attack = {
  name: 'answer-head-floods',
  does: `answers ${AT_ONCE} downloads at a time with header lines without end`,
  promise: 'the head of an answer is bounded',
  worlds: ['splice'],
  quick: [],
  meets: ['origin-bad-answer'],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      void pour(ground, socket, HEADER_LINES);
    });
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
