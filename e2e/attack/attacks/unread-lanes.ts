import type { Attack } from '../attack.ts';
import { BIG_FILE_BYTES, startBigFileOrigin } from '../attacker/big-file.ts';
import { requestFor } from '../attacker/ground.ts';
import { untilOver } from '../attacker/pace.ts';

const DOWNLOADS = 90;
const LANES = 8;

export const UNREAD_LANES: Attack = {
  name: 'unread-lanes',
  does: `begins ${DOWNLOADS} downloads over ${LANES} lanes each and reads none of them`,
  promise: 'memory for lanes is bounded over all downloads',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    await startBigFileOrigin(ground);
    await Promise.all(
      Array.from({ length: DOWNLOADS }, async () => {
        const url = `http://a.hostile.example${ground.path(1)}`;
        const download = await ground.plan(url, { via: ['d1'], lanes: LANES, sizeBytes: BIG_FILE_BYTES });
        const socket = await ground.open('d1');
        if (!download) return;
        ground.tally.case();
        socket.once('close', () => ground.tally.answer('ended'));
        socket.write(requestFor(download));
      }),
    );
    await untilOver(ground.signal);
  },
};
