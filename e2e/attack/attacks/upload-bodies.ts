import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor, type Target } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';

const AT_ONCE = 24;
const PIECE = 'x'.repeat(16 * 1024);
const PAUSE_MS = 20;
const FRAMINGS = [
  ['Content-Length: 999999999999'],
  ['Content-Length: 999999999999', 'Expect: 100-continue'],
  ['Transfer-Encoding: chunked'],
];

/** Sends a body that never ends behind a request, as fast as somebody with a usual line. */
async function upload(ground: Ground, target: Target, head: string, isChunked: boolean): Promise<void> {
  const socket = await ground.open(target);
  ground.tally.case();
  socket.resume().write(head);
  const piece = isChunked ? `${PIECE.length.toString(16)}\r\n${PIECE}\r\n` : PIECE;
  while (!ground.signal.aborted && socket.writable) {
    if (socket.writableLength < PIECE.length * 4) socket.write(piece);
    await delay(PAUSE_MS);
  }
  ground.tally.answer(ground.signal.aborted ? 'still taken' : 'cut off');
  socket.destroy();
}

export const UPLOAD_BODIES: Attack = {
  name: 'upload-bodies',
  does: `sends ${AT_ONCE} endless bodies at a time behind downloads, plans, registrations and unknown requests, with a length, with chunks, with Expect`,
  promise: 'nobody keeps what nobody asked for',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(1000)}`, { via: ['d1'] });
    if (!download) throw new Error('the master gave no plan');
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const framing = FRAMINGS[turn % FRAMINGS.length] ?? [];
      const targets: [Target, string][] = [
        ['d1', requestFor(download, framing)],
        ['d1', requestFor({ target: '/upload' }, framing).replace('GET', 'POST')],
        ['master', requestFor({ target: '/v1/plans' }, framing).replace('GET', 'POST')],
        ['master', requestFor({ target: '/v1/depots' }, framing).replace('GET', 'POST')],
        ['master', requestFor({ target: '/get/http/popular.files.example/1000/asked-0.bin' }, framing)],
      ];
      const [target, head] = targets[turn % targets.length] ?? ['d1', ''];
      await upload(ground, target, head, framing.includes('Transfer-Encoding: chunked'));
      await delay(PAUSE_MS);
    });
  },
};
