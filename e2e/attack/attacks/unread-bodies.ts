import type { Attack } from '../attack.ts';
import { BIG_FILE_BYTES, startBigFileOrigin } from '../attacker/big-file.ts';
import { requestFor } from '../attacker/ground.ts';
import { doTimes, untilOver } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const DOWNLOADS = 300;
/** As many as the master lets one network ask at a time. */
const AT_ONCE = 40;

export const UNREAD_BODIES: Attack = {
  name: 'unread-bodies',
  does: `begins ${DOWNLOADS} huge downloads over two depots and reads nothing but their heads`,
  promise: 'a client that does not read stops its chain, and one network holds no more than its share',
  worlds: ['splice', 'streams', 'tls'],
  quick: ['splice'],
  meets: ['client-busy'],
  strike: async (ground) => {
    await startBigFileOrigin(ground);
    await doTimes(DOWNLOADS, AT_ONCE, ground.signal, async (at) => {
      const url = `http://a${at % 4}.hostile.example${ground.path(1)}`;
      const via = at % 2 === 0 ? ['d2', 'd1'] : ['d3', 'd1'];
      const download = await ground.plan(url, { via, sizeBytes: BIG_FILE_BYTES });
      const socket = await ground.open('d1');
      if (!download) return;
      ground.tally.case();
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readHead(socket)));
    });
    await untilOver(ground.signal);
  },
};
