import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const AT_ONCE = 8;
const SIZE_BYTES = 400_000;

export const REBINDING_NAMES: Attack = {
  name: 'rebinding-names',
  does: 'asks for names whose addresses change with every question between a public host and private ones, and breaks each answer off so that it is fetched again',
  promise: 'the address that is connected is the one that was checked',
  worlds: ['splice'],
  quick: [],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket }) => {
      const head = `HTTP/1.1 200 OK\r\nETag: "1"\r\nAccept-Ranges: bytes\r\nContent-Length: ${SIZE_BYTES}\r\n\r\n`;
      socket.write(head + 'x'.repeat(1000), () => socket.resetAndDestroy());
    });
    await keepAtIt(AT_ONCE, ground.signal, async (turn) => {
      const via = turn % 2 === 0 ? ['d1'] : ['d2', 'd1'];
      const download = await ground.plan(`http://a${turn}.rebind.example${ground.path(SIZE_BYTES)}`, { via });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      ground.tally.answer(verdictOf(await readAnswer(socket, { patienceMs: 1000 })));
      socket.destroy();
    });
  },
};
