import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { pour, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { untilOver } from '../attacker/pace.ts';

const DOWNLOADS = 30;
/** Six bytes of the wire for one of the file. */
const CHUNKS = Buffer.from('1\r\nx\r\n'.repeat(10_000));

export const TINY_CHUNKS: Attack = {
  name: 'tiny-chunks',
  does: `gives ${DOWNLOADS} endless files in chunks of one byte, of which the clients read every second one`,
  promise: 'bytes cost what they weigh, however they are cut',
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nETag: "1"\r\nTransfer-Encoding: chunked\r\n\r\n');
      void pour(ground, socket, CHUNKS);
    });
    await Promise.all(
      Array.from({ length: DOWNLOADS }, async (_, at) => {
        const via = at % 3 === 0 ? ['d1'] : ['d2', 'd1'];
        const download = await ground.plan(`http://a.hostile.example${ground.path(1)}`, { via });
        const socket = await ground.open('d1');
        if (!download) return;
        ground.tally.case();
        socket.once('close', () => ground.tally.answer('ended'));
        socket.write(requestFor(download));
        if (at % 2 === 0) socket.resume();
      }),
    );
    await untilOver(ground.signal);
  },
};
