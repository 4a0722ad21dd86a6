import { formatChallengeTarget } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const PER_SECOND = 200;

export const CHALLENGE_FLOODS: Attack = {
  name: 'challenge-floods',
  does: `asks a depot ${PER_SECOND} times a second to prove its address: each proof is a signature`,
  promise: 'one network gets a few proofs a minute, and masters theirs all the same',
  worlds: ['splice'],
  quick: [],
  meets: ['too-many-challenges'],
  strike: async (ground) => {
    await pace(PER_SECOND, ground.signal, () => {
      ground.tally.case();
      void ask();
    });
    async function ask(): Promise<void> {
      const socket = await ground.open('d1');
      const challenge = Array.from({ length: 43 }, () => Math.floor(ground.random() * 36).toString(36)).join(
        '',
      );
      socket.write(requestFor({ target: formatChallengeTarget(challenge) }));
      ground.tally.answer(verdictOf(await readHead(socket)));
      socket.destroy();
    }
  },
};
