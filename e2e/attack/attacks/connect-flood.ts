import type { Attack } from '../attack.ts';
import { pace } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const PER_SECOND = 300;

export const CONNECT_FLOOD: Attack = {
  name: 'connect-flood',
  does: `sends ${PER_SECOND} CONNECTs a second without a ticket, or with one that is forged, and leaves every second answer unread`,
  promise: 'to refuse costs less than to ask, and does not fill the log',
  worlds: ['splice'],
  quick: [],
  meets: ['ticket-missing', 'ticket-signature-wrong'],
  strike: async (ground) => {
    const tunnel = await ground.planTunnel('http://popular.files.example/', { via: ['d2', 'd1'] });
    const forged = tunnel?.ticket?.replace(/.{6}$/, 'AAAAAA') ?? '';
    const head = 'CONNECT popular.files.example:80 HTTP/1.1\r\nHost: popular.files.example:80\r\n';
    let sent = 0;
    await pace(PER_SECOND, ground.signal, () => {
      sent += 1;
      ground.tally.case();
      void ask(sent);
    });
    async function ask(turn: number): Promise<void> {
      const socket = await ground.open('d1');
      socket.write(turn % 3 === 0 ? `${head}Proxy-Authorization: Longhaul ${forged}\r\n\r\n` : `${head}\r\n`);
      if (turn % 2 === 0) socket.once('close', () => socket.destroy());
      else {
        ground.tally.answer(verdictOf(await readHead(socket)));
        socket.destroy();
      }
    }
  },
};
