import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 40;
const PAUSE_MS = 100;

export const RANGE_FLOODS: Attack = {
  name: 'range-floods',
  does: `asks for single bytes of one file, over ${AT_ONCE} kept connections, again and again`,
  promise: 'a download in tiny ranges takes no more than a share of the depots',
  worlds: ['splice'],
  quick: [],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(100_000)}`, {
      via: ['d2', 'd1'],
    });
    if (!download) throw new Error('the master gave no plan');
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const socket = await ground.open('d1');
      for (let at = turn; !ground.signal.aborted && !socket.destroyed; at += 1) {
        ground.tally.case();
        socket.write(requestFor(download, [`Range: bytes=${at % 100_000}-${at % 100_000}`]));
        const got = await readAnswer(socket);
        ground.tally.answer(verdictOf(got));
        if (!got) break;
        await delay(PAUSE_MS);
      }
      socket.destroy();
    });
  },
};
