import { type Ground, requestFor } from './ground.ts';
import { keepAtIt } from './pace.ts';
import { readHead, verdictOf } from './read-answer.ts';

/**
 * Downloads from the hostile origin again and again, so many at once, over one depot and over two; leaves
 * with the head.
 */
export function askForHeads(ground: Ground, atOnce: number): Promise<void> {
  return keepAtIt(atOnce, ground.signal, async (turn) => {
    const via = turn % 2 === 0 ? ['d1'] : ['d2', 'd1'];
    const download = await ground.plan(`http://a.hostile.example${ground.path(1)}`, { via });
    if (!download) return;
    ground.tally.case();
    const socket = await ground.open('d1');
    socket.write(requestFor(download));
    ground.tally.answer(verdictOf(await readHead(socket)));
    socket.destroy();
  });
}
