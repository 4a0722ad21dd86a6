import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { BIG_FILE_BYTES, startBigFileOrigin } from '../attacker/big-file.ts';
import { requestFor } from '../attacker/ground.ts';

const DOWNLOADS = 90;
const READ_BYTES = 512;
const PAUSE_MS = 100;

export const SLOW_READERS: Attack = {
  name: 'slow-readers',
  does: `reads ${DOWNLOADS} huge downloads at ${(READ_BYTES * 1000) / PAUSE_MS / 1000} kB/s each`,
  promise: 'slow clients cost no more than those that do not read',
  worlds: ['splice', 'streams'],
  quick: [],
  strike: async (ground) => {
    await startBigFileOrigin(ground);
    await Promise.all(
      Array.from({ length: DOWNLOADS }, async (_, at) => {
        const url = `http://a.hostile.example${ground.path(1)}`;
        const via = at % 2 === 0 ? ['d2', 'd1'] : ['d1'];
        const download = await ground.plan(url, { via, sizeBytes: BIG_FILE_BYTES });
        const socket = await ground.open('d1');
        if (!download) return;
        ground.tally.case();
        socket.once('close', () => ground.tally.answer('ended'));
        socket.write(requestFor(download));
        while (!ground.signal.aborted && !socket.destroyed) {
          // With so little taken out of a full buffer the window opens by single bytes.
          socket.read(READ_BYTES);
          await delay(PAUSE_MS);
        }
      }),
    );
  },
};
