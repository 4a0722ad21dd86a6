import type { Attack } from '../attack.ts';
import { beginLaned, startBigFileOrigin } from '../attacker/big-file.ts';
import { untilOver } from '../attacker/pace.ts';

const DOWNLOADS = 90;
const LANES = 8;

export const UNREAD_LANES: Attack = {
  name: 'unread-lanes',
  does: `begins ${DOWNLOADS} downloads over ${LANES} lanes each and reads none of them`,
  promise: 'memory for lanes is bounded over all downloads',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    await startBigFileOrigin(ground);
    await beginLaned(ground, { downloads: DOWNLOADS, lanes: LANES }, () => {});
    await untilOver(ground.signal);
  },
};
