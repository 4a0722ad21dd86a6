import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';

const PAUSE_MS = 150;

export const MISPLACED_DEPOT: Attack = {
  name: 'misplaced-depot',
  does: 'somebody with the enrolment secret registers a depot where services of the network inside are, the honest origin, another depot, the master',
  promise:
    'no address counts that the depot has not proved, none is asked that is not for depots, and the origin there stays one',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    const { inner, web, targets } = ground.facts;
    const liar = new LyingDepot(ground);
    const places = [
      { host: inner, port: 80 },
      { host: inner, port: 6379 },
      { host: '127.0.0.1', port: 80 },
      { host: '169.254.169.254', port: 80 },
      { host: 'localhost', port: 8080 },
      { host: '::1', port: 80 },
      { host: web, port: 80 },
      { host: web, port: 443 },
      targets.d2,
      targets.master,
    ];
    while (!ground.signal.aborted)
      for (const { host, port } of places) {
        ground.tally.case();
        ground.tally.answer(`registered: ${await liar.register({ host, port })}`);
        const state = await stateOf();
        ground.tally.answer(`state: ${state}`);
        if (state === 'up')
          ground.tally.broke('an address counts once its depot has answered there', `${host}:${port}`);
        await delay(PAUSE_MS);
      }

    async function stateOf(): Promise<string | undefined> {
      const status = JSON.parse(await text(await ground.ask('master', 'GET', '/v1/status'))) as {
        depots: readonly { id: string; state: string }[];
      };
      return status.depots.find(({ id }) => id === LIAR_ID)?.state;
    }
  },
};
