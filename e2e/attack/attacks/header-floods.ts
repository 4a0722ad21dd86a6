import type { Attack } from '../attack.ts';
import { pace } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const PER_SECOND = 100;
/** As many lines as fit into the largest head that is taken, and into one that is not. */
const HEADS = [5000, 12_000].map(
  (lines) =>
    `GET /healthz HTTP/1.1\r\n${Array.from({ length: lines }, (_, at) => `${(at % 36).toString(36)}:\r\n`).join('')}\r\n`,
);

export const HEADER_FLOODS: Attack = {
  name: 'header-floods',
  does: `sends ${PER_SECOND} heads a second of 5000 and of 12,000 header lines to a depot and to the master`,
  promise: 'a large head costs no more than its bytes',
  worlds: ['splice'],
  quick: [],
  meets: ['request-too-large'],
  strike: async (ground) => {
    let sent = 0;
    await pace(PER_SECOND, ground.signal, () => {
      sent += 1;
      ground.tally.case();
      void send(sent);
    });
    async function send(turn: number): Promise<void> {
      const socket = await ground.open(turn % 4 < 2 ? 'd1' : 'master');
      socket.end(HEADS[turn % HEADS.length] ?? '');
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    }
  },
};
