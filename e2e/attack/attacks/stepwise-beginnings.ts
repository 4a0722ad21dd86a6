import type { Attack } from '../attack.ts';
import { startBigFileOrigin } from '../attacker/big-file.ts';
import { requestFor } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 20;

export const STEPWISE_BEGINNINGS: Attack = {
  name: 'stepwise-beginnings',
  does: 'begins stepwise downloads of huge files as fast as it gets redirects, and follows none of them',
  promise: 'one network does not take all the places where transfers wait',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    await startBigFileOrigin(ground);
    await keepAtIt(AT_ONCE, ground.signal, async () => {
      const url = `http://a.hostile.example${ground.path(1)}`;
      const download = await ground.plan(url, { via: ['d2', 'd1'], signalling: 'stepwise' });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open(download.place);
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    });
  },
};
