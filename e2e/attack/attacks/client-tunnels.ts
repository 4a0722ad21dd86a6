import type { Attack } from '../attack.ts';
import { pace, untilOver } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const TUNNELS = 400;
const PER_SECOND = 100;

export const CLIENT_TUNNELS: Attack = {
  name: 'client-tunnels',
  does: `opens ${TUNNELS} tunnels of one network by good tickets, each its own, and sends nothing over them`,
  promise: 'one network does not take all transfers of a depot',
  worlds: ['splice', 'streams', 'tls'],
  quick: [],
  meets: ['client-busy'],
  strike: async (ground) => {
    let opened = 0;
    await pace(PER_SECOND, ground.signal, () => {
      if (opened >= TUNNELS) return;
      opened += 1;
      void open(opened);
    });
    await untilOver(ground.signal);

    async function open(turn: number): Promise<void> {
      const host = `t${turn}.files.example`;
      const plan = await ground.planTunnel(`http://${host}/`, { via: ['d2', 'd1'] });
      if (!plan?.ticket) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(
        `CONNECT ${host}:80 HTTP/1.1\r\nHost: ${host}:80\r\nProxy-Authorization: Longhaul ${plan.ticket}\r\n\r\n`,
      );
      ground.tally.answer(verdictOf(await readHead(socket)));
    }
  },
};
