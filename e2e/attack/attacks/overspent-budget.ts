import { formatBytes } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { startBigFileOrigin } from '../attacker/big-file.ts';
import { requestFor } from '../attacker/ground.ts';
import { untilOver } from '../attacker/pace.ts';
import { PUBLIC_CAPS } from '../world/limits.ts';

const CONNECTIONS = 16;
/**
 * What flows until the count is looked at, each quarter of a second or later on a busy machine: half a second
 * of the line.
 */
const MOST_BEYOND_BYTES = 50_000_000;

export const OVERSPENT_BUDGET: Attack = {
  name: 'overspent-budget',
  does: `downloads over ${CONNECTIONS} connections at once by one ticket whose budget is ${formatBytes(PUBLIC_CAPS.bytesPerHour)}`,
  promise: `one ticket brings no more than ${formatBytes(MOST_BEYOND_BYTES)} beyond its budget, over however many connections`,
  worlds: ['splice', 'streams'],
  quick: ['splice'],
  meets: ['budget-used-up', 'rate-limited'],
  strike: async (ground) => {
    await startBigFileOrigin(ground, ground.facts.own.metered);
    const url = `http://a.metered.example${ground.path(1)}`;
    const download = await ground.plan(url, { via: ['d1'], sizeBytes: 1_000_000 });
    ground.tally.case();
    // The budget of the hour is used up already, which is the bound as well.
    if (!download) return;
    let come = 0;
    for (let at = 0; at < CONNECTIONS; at += 1) {
      const socket = await ground.open('d1');
      ground.tally.case();
      socket.on('data', (bytes: Buffer) => {
        come += bytes.length;
      });
      socket.once('close', () => ground.tally.answer('ended'));
      socket.write(requestFor(download, [`Range: bytes=${at * 1000}-`]));
    }
    await untilOver(ground.signal);
    if (come > PUBLIC_CAPS.bytesPerHour + MOST_BEYOND_BYTES)
      ground.tally.broke(
        'a ticket brings no more than its budget',
        `${formatBytes(come)} over ${CONNECTIONS} connections`,
      );
  },
};
