import { HEADERS } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { pace } from '../attacker/pace.ts';

const PER_SECOND = 150;
const PATH_CHARS = 8000;

export const PLAN_FLOODS: Attack = {
  name: 'plan-floods',
  does: `asks the master for ${PER_SECOND} plans a second, each for another URL of ${PATH_CHARS / 1000} kB`,
  promise: 'what a master remembers is bounded, and it answers the others at once',
  worlds: ['splice'],
  quick: [],
  strike: async (ground) => {
    let asked = 0;
    const long = 'x'.repeat(PATH_CHARS);
    await pace(PER_SECOND, ground.signal, () => {
      asked += 1;
      ground.tally.case();
      void ask(asked);
    });
    async function ask(turn: number): Promise<void> {
      const url = `http://popular.files.example/${long}/asked-${turn}.bin`;
      const sent =
        turn % 2 === 0
          ? ground.ask('master', 'GET', `/get/~via=d2+d1/http/${url.slice('http://'.length)}`)
          : ground.ask('master', 'POST', '/v1/plans', {
              body: JSON.stringify({ url }),
              headers: { 'Content-Type': 'application/json' },
            });
      const answer = await sent.catch(() => undefined);
      answer?.resume();
      ground.tally.answer(String(answer?.headers[HEADERS.error] ?? answer?.statusCode ?? 'not taken'));
    }
  },
};
