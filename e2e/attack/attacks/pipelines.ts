import { MIB } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { pour } from '../attacker/hostile-origin.ts';
import { untilOver } from '../attacker/pace.ts';

const CONNECTIONS = 66;
const REQUESTS = 990;
const REQUEST_BYTES = 23_000;

export const PIPELINES: Attack = {
  name: 'pipelines',
  does: `puts ${REQUESTS} requests of ${REQUEST_BYTES / 1000} kB behind a body that it does not read, on each of ${CONNECTIONS} connections`,
  promise: 'requests that wait behind another one cost a depot next to nothing',
  worlds: ['splice', 'streams', 'tls'],
  quick: ['splice'],
  strike: async (ground) => {
    const padding = Array.from({ length: 23 }, (_, at) => `X-${at}: ${'x'.repeat(REQUEST_BYTES / 23 - 8)}`);
    const attempts = Array.from({ length: CONNECTIONS }, async () => {
      const download = await ground.plan(`http://popular.files.example${ground.path(64 * MIB)}`, {
        via: ['d1'],
      });
      const socket = await ground.open('d1');
      if (!download) return;
      ground.tally.case();
      socket.once('close', () => ground.tally.answer('cut off'));
      await pour(ground, socket, requestFor(download, padding), REQUESTS);
    });
    await Promise.all(attempts);
    await untilOver(ground.signal);
  },
};
