import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 12;
/** Within what a URL may have, within what a head may have, and beyond both. */
const LENGTHS = [7000, 15_000, 60_000, 500_000];

export const ENORMOUS_REDIRECTS: Attack = {
  name: 'enormous-redirects',
  does: `redirects every download five times to a new host each, by addresses of ${LENGTHS.map((chars) => chars / 1000).join(', ')} kB: each asks the master for a ticket`,
  promise: 'depots and master pay for five redirects, and for no long one',
  worlds: ['splice'],
  quick: [],
  meets: ['redirect-limit', 'redirect-bad-target', 'origin-bad-answer'],
  strike: async (ground) => {
    let redirects = 0;
    await startHostileOrigin(ground, ({ target, socket }) => {
      redirects += 1;
      const chars = LENGTHS[Number(/way-([0-9])/.exec(target)?.[1])] ?? 1;
      const way = /way-[0-9]/.exec(target)?.[0] ?? '';
      const location = `http://r${redirects}.hostile.example/${way}/${'x'.repeat(chars)}`;
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    });
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const url = `http://a.hostile.example/way-${turn % LENGTHS.length}/${ground.facts.seed}-${turn}`;
      const download = await ground.plan(url, { via: ['d2', 'd1'] });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    });
  },
};
