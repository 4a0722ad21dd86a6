import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';
import { keepAtIt, pace } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const TUNNELS = 1000;
const TUNNELS_PER_TICKET = 50;
const PER_SECOND = 1000;
/** How often somebody else asks for the origin that is held. */
const OTHERS_MS = 300;
/** Half of them to one origin, the others spread. */
const CROWDED = 'popular.files.example';

export const IDLE_TUNNELS: Attack = {
  name: 'idle-tunnels',
  does: `a depot of the overlay opens ${TUNNELS} tunnels through another one, half of them to one origin, and sends nothing over them`,
  promise: 'one neighbour takes neither all transfers of a depot nor all of an origin',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    await liar.join((socket) => socket.destroy());
    await untilKnown(ground, liar);
    const tickets = new Map<string, Promise<string>>();
    let begun = 0;
    const open = async (turn: number) => {
      const group = Math.floor(turn / TUNNELS_PER_TICKET);
      const host = group % 2 === 0 ? CROWDED : `t${group}.files.example`;
      const key = `${host} ${group}`;
      const ticket = tickets.get(key) ?? ticketFor(ground, host);
      tickets.set(key, ticket);
      ground.tally.case();
      const call = { ticket: await ticket, chainIndex: 0, place: 0, host, port: 80 };
      const { head } = await liar.call('d3', call);
      ground.tally.answer(verdictOf(head));
    };
    const all = new AbortController();
    await Promise.all([
      pace(PER_SECOND, AbortSignal.any([ground.signal, all.signal]), () => {
        void open(begun);
        begun += 1;
        if (begun === TUNNELS) all.abort();
      }),
      keepAtIt(1, ground.signal, async () => {
        await judgeOthers(ground);
        await delay(OTHERS_MS);
      }),
    ]);
  },
};

/** Before the other depot knows it, the liar is a stranger, bounded together with the others of its network. */
async function untilKnown(ground: Ground, liar: LyingDepot): Promise<void> {
  const host = 't0.files.example';
  const call = { ticket: await ticketFor(ground, host), chainIndex: 0, place: 0, host, port: 80 };
  while (!ground.signal.aborted) {
    const { socket, head } = await liar.call('d3', call);
    socket.destroy();
    if (verdictOf(head) === 'served') return;
    await delay(OTHERS_MS);
  }
}

async function ticketFor(ground: Ground, host: string): Promise<string> {
  const download = await ground.plan(`http://${host}${ground.path(1000)}`, { via: ['d3', LIAR_ID] });
  return download?.ticket ?? '';
}

/** A download that nobody can repair by another way: its entry depot is the one that is crowded. */
async function judgeOthers(ground: Ground): Promise<void> {
  const download = await ground.plan(`http://${CROWDED}${ground.path(1000)}`, { via: ['d3'] });
  if (!download) return;
  const socket = await ground.open('d3');
  socket.write(requestFor(download));
  const verdict = verdictOf(await readHead(socket));
  socket.destroy();
  ground.tally.answer(`others: ${verdict}`);
  if (verdict !== 'served') ground.tally.broke('others get the crowded origin from the same depot', verdict);
}
