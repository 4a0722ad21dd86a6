import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer } from '../attacker/read-answer.ts';

const AT_ONCE = 4;
const BODIES = [1000, 300_000];
/** A chain whose download is over lets go of its origin by then. */
const CLOSE_MS = 3000;

export const OPEN_ENDS: Attack = {
  name: 'open-ends',
  does: 'gives whole files, by a length and in chunks, and keeps every connection open although it is asked to close it',
  promise: 'a download that is over holds no chain',
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  strike: async (ground) => {
    /** Paths whose connection the depot has let go of. */
    const closed = new Map<string, () => void>();
    await startHostileOrigin(ground, ({ target, socket }) => {
      const body = Buffer.alloc(BODIES[target.length % BODIES.length] ?? 1, 'x');
      const isChunked = target.includes('chunked');
      socket.write(
        `HTTP/1.1 200 OK\r\nETag: "1"\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`}\r\n\r\n`,
      );
      socket.write(isChunked ? `${body.length.toString(16)}\r\n${body.toString()}\r\n0\r\n\r\n` : body);
      for (const event of ['end', 'close']) socket.once(event, () => closed.get(target)?.());
    });
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const path = `${ground.path(1)}${'x'.repeat(turn % 2)}${turn % 4 < 2 ? 'chunked' : 'counted'}`;
      const download = await ground.plan(`http://a.hostile.example${path}`, {
        via: turn % 3 === 0 ? ['d1'] : ['d2', 'd1'],
      });
      if (!download) return;
      ground.tally.case();
      const letGo = new Promise<boolean>((resolve) => {
        closed.set(path, () => resolve(true));
        ground.signal.addEventListener('abort', () => resolve(true), { once: true });
      });
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      const got = await readAnswer(socket);
      socket.destroy();
      ground.tally.answer(got ? `${got.status}, ${got.end}` : 'closed');
      // What came while this process stood still is read first.
      const late = new Promise<boolean>((resolve) => {
        setTimeout(() => setImmediate(() => resolve(false)), CLOSE_MS);
      });
      if (!(await Promise.race([letGo, late])))
        ground.tally.broke(`a finished download lets go of its origin within ${CLOSE_MS / 1000} s`, path);
      closed.delete(path);
    });
  },
};
