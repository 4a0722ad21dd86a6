import { setTimeout as delay } from 'node:timers/promises';
import { MIB } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor, type Ticketed } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';
import { readAnswer, verdictOf } from '../attacker/read-answer.ts';

const HELD = 64;
const HEADS_PER_SECOND = 400;
const FILE_BYTES = 2 * MIB;
/** How often somebody asks the master again before giving up. */
const ASKS = 3;

export const SHARED_TICKET: Attack = {
  name: 'shared-ticket',
  does: `holds ${HELD} connections of the download that a neighbour in its /24 wants, too, and spends its connections by ${HEADS_PER_SECOND} HEADs a second`,
  promise: `a neighbour who asks for the same file is served after ${ASKS} questions at most`,
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    for (let round = 0; !ground.signal.aborted; round += 1) {
      const url = `http://popular.files.example${ground.path(FILE_BYTES)}`;
      const download = await ground.plan(url, { via: ['d1'] });
      if (!download) return;
      await (round % 2 === 0 ? holdAll(ground, download) : spendAll(ground, download));
      ground.tally.case();
      if (!(await isServed(ground, url)))
        ground.tally.broke('a neighbour is served', round % 2 === 0 ? 'held' : 'spent');
    }
  },
};

async function holdAll(ground: Ground, download: Ticketed): Promise<void> {
  for (let at = 0; at < HELD && !ground.signal.aborted; at += 1) {
    const socket = await ground.open('d1');
    socket.write(requestFor(download));
    // The next round has connections of its own to hold.
    setTimeout(() => socket.destroy(), 3000);
  }
}

/** A HEAD over each of many connections: all of them count for the ticket. */
async function spendAll(ground: Ground, download: Ticketed): Promise<void> {
  const spent = AbortSignal.any([ground.signal, AbortSignal.timeout(12_000)]);
  const over = new AbortController();
  await pace(HEADS_PER_SECOND, AbortSignal.any([spent, over.signal]), () => {
    void spendOne();
  });

  async function spendOne(): Promise<void> {
    const socket = await ground.open('d1');
    socket.write(requestFor(download).replace('GET', 'HEAD'));
    const verdict = verdictOf(await readAnswer(socket, { hasBody: false }));
    socket.destroy();
    ground.tally.answer(verdict);
    if (verdict === 'budget-used-up') over.abort();
  }
}

async function isServed(ground: Ground, url: string): Promise<boolean> {
  const { neighbour } = ground.facts.own;
  for (let asks = 0; asks < ASKS && !ground.signal.aborted; asks += 1) {
    const download = await ground.plan(url, { via: ['d1'] }, neighbour);
    if (!download) return false;
    const socket = await ground.open('d1', { from: neighbour });
    socket.write(requestFor(download));
    const got = await readAnswer(socket);
    socket.destroy();
    ground.tally.answer(`neighbour: ${verdictOf(got)}`);
    if (got?.status === 200 && got.body.length === FILE_BYTES) return true;
    await delay(200);
  }
  return ground.signal.aborted;
}
