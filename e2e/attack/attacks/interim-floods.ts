import type { Attack } from '../attack.ts';
import { askForHeads } from '../attacker/ask-for-heads.ts';
import { pour, startHostileOrigin } from '../attacker/hostile-origin.ts';

const AT_ONCE = 4;
const INTERIM = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(100);

export const INTERIM_FLOODS: Attack = {
  name: 'interim-floods',
  does: `answers ${AT_ONCE} downloads at a time with interim answers (103) without end`,
  promise: 'an origin does not get a core by answers that are none',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['origin-bad-answer'],
  strike: async (ground) => {
    await startHostileOrigin(ground, ({ socket }) => void pour(ground, socket, INTERIM));
    await askForHeads(ground, AT_ONCE);
  },
};
