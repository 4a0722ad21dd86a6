import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { type SeenRequest, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { untilOver } from '../attacker/pace.ts';

const DOWNLOADS = 90;
const DRIP_MS = 250;
/** What drips: a head that never ends, a body by length, a body in chunks, nothing at all. */
const BEGINNINGS = [
  'HTTP/1.1 200 OK\r\nX: ',
  'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: 100000000\r\n\r\n',
  'HTTP/1.1 200 OK\r\nETag: "1"\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n',
  '',
];

export const DRIPPING_ORIGINS: Attack = {
  name: 'dripping-origins',
  does: `answers ${DOWNLOADS} downloads byte by byte, one every ${DRIP_MS} ms: heads, bodies, chunks; or not at all`,
  promise: 'origins that drip hold their own downloads, and no others',
  worlds: ['splice', 'streams'],
  quick: [],
  strike: async (ground) => {
    await startHostileOrigin(ground, (request) => void drip(ground, request));
    await Promise.all(
      Array.from({ length: DOWNLOADS }, async (_, at) => {
        const via = at % 2 === 0 ? ['d1'] : ['d2', 'd1'];
        const download = await ground.plan(`http://a.hostile.example${ground.path(1)}`, { via });
        const socket = await ground.open('d1');
        if (!download) return;
        ground.tally.case();
        socket.once('close', () => ground.tally.answer('ended'));
        socket.resume().write(requestFor(download));
      }),
    );
    await untilOver(ground.signal);
  },
};

async function drip({ signal }: Ground, { target, socket }: SeenRequest): Promise<void> {
  const beginning = BEGINNINGS[Number(/-([0-9]+)\.bin/.exec(target)?.[1]) % BEGINNINGS.length] ?? '';
  if (beginning === '') return;
  socket.write(beginning);
  while (!signal.aborted && socket.writable) {
    socket.write('x');
    await delay(DRIP_MS);
  }
}
