import { HEADERS } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor, type Target } from '../attacker/ground.ts';
import { type Call, LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const HOST = 'popular.files.example';
const OTHERS: readonly Target[] = ['d1', 'd2', 'd3'];

export const REPLAYED_PROOFS: Attack = {
  name: 'replayed-proofs',
  does: 'a depot of the overlay repeats the proofs that it gets, and its own: at other depots, other places, for other tickets, chains and times',
  promise: 'a proof opens one tunnel, once, at the depot that it was made for',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['caller-not-proved'],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    await liar.join((socket, head) => {
      socket.destroy();
      void replay(ground, head);
    });
    await keepAtIt(2, ground.signal, async (turn) =>
      turn % 2 === 0 ? lure(ground) : repeatOwn(ground, liar),
    );
  },
};

/** Makes an honest depot prove itself to the liar. */
async function lure(ground: Ground): Promise<void> {
  const download = await ground.plan(`http://${HOST}${ground.path(1000)}`, { via: ['d3', LIAR_ID, 'd1'] });
  if (!download) return;
  const socket = await ground.open('d1');
  socket.write(requestFor(download));
  await readHead(socket);
  socket.destroy();
}

/** Says to every depot what d1 has said to the liar. */
async function replay(ground: Ground, head: string): Promise<void> {
  for (const target of OTHERS) {
    const socket = await ground.open(target, { from: ground.facts.own.liar });
    socket.write(`${head}\r\n\r\n`);
    judge(ground, verdictOf(await readHead(socket)), `the proof of d1 at ${target}`);
    socket.destroy();
  }
}

/** Calls the next depot as it may, and then in all the ways in which it may not. */
async function repeatOwn(ground: Ground, liar: LyingDepot): Promise<void> {
  const plan = () => ground.plan(`http://${HOST}${ground.path(1000)}`, { via: ['d3', LIAR_ID, 'd1'] });
  const [download, another] = [await plan(), await plan()];
  if (!download || !another) return;
  const call: Call = { ticket: download.ticket, chainIndex: 0, place: 1, host: HOST, port: 80 };
  const proof = liar.prove(call);
  const first = await liar.call('d3', call, proof);
  ground.tally.answer(`own proof: ${verdictOf(first.head)}`);
  first.socket.destroy();
  const attempts: [string, Target, Call, typeof proof][] = [
    ['twice', 'd3', call, proof],
    ['elsewhere', 'd2', call, liar.prove(call)],
    ['for another ticket', 'd3', { ...call, ticket: another.ticket }, liar.prove(call)],
    ['for another chain', 'd3', { ...call, chainIndex: 1 }, liar.prove(call)],
    ['for another place', 'd3', call, liar.prove({ ...call, place: 0 })],
    ['later', 'd3', call, { ...liar.prove(call), timeMs: Date.now() + 30_000 }],
    ['by another name', 'd3', call, { ...liar.prove(call), depot: 'd1' }],
    ['for another origin', 'd3', { ...call, host: 'other.files.example' }, liar.prove(call)],
  ];
  for (const [what, target, one, with_] of attempts) {
    const { socket, head } = await liar.call(target, one, with_);
    socket.destroy();
    judge(ground, verdictOf(head), `a proof ${what}`);
  }
}

function judge(ground: Ground, verdict: string, what: string): void {
  ground.tally.case();
  ground.tally.answer(verdict);
  if (verdict === 'served' || verdict === 'internal')
    ground.tally.broke(`${HEADERS.proof} opens one tunnel, once`, `${what} is ${verdict}`);
}
