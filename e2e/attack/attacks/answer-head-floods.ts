import type { Attack } from '../attack.ts';
import { askForHeads } from '../attacker/ask-for-heads.ts';
import { pour, startHostileOrigin } from '../attacker/hostile-origin.ts';

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
    await askForHeads(ground, AT_ONCE);
  },
};
