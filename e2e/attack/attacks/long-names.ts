import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 10;
/**
 * As long as a path may be, and as a header may be beside the others; what is slow about them grows with the
 * square.
 */
const PATH_CHARS = 8100;
const HEADER_CHARS = 15_500;
const FILLINGS = ['a', '.', '%20', '%C3%A9', '%F0%9F%98%80', ' ', '_', '%E2%80%AE'];

export const LONG_NAMES: Attack = {
  name: 'long-names',
  does: `downloads files whose names have ${PATH_CHARS} characters in the path and ${HEADER_CHARS} in Content-Disposition, ${AT_ONCE} at a time`,
  promise: 'a name takes the time of its length',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket, target }) => {
      const filling = FILLINGS[target.length % FILLINGS.length] ?? 'a';
      const name = filling.repeat(Math.floor(HEADER_CHARS / filling.length));
      const disposition = target.includes('starred')
        ? `attachment; filename*=UTF-8''${name}`
        : `attachment; filename="${name}"`;
      socket.end(`HTTP/1.1 200 OK\r\nContent-Disposition: ${disposition}\r\nContent-Length: 1\r\n\r\nx`);
    });
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const filling = (FILLINGS[turn % FILLINGS.length] ?? 'a').replace(' ', '%20');
      const name = filling.repeat(Math.floor((PATH_CHARS - 30) / filling.length));
      const kind = turn % 2 === 0 ? 'starred' : 'quoted';
      const download = await ground.plan(`http://a.hostile.example/${kind}-${turn}/${name}`, { via: ['d1'] });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readAnswer(socket)));
      socket.destroy();
    });
  },
};
