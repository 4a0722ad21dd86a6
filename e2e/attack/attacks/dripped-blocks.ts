import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { beginBigFile, beginLaned, sendBigFile } from '../attacker/big-file.ts';
import { rangeOf, type SeenRequest, startHostileOrigin } from '../attacker/hostile-origin.ts';
import { untilOver } from '../attacker/pace.ts';

const TRANSFERS = 60;
const LANES = 4;
const DRIP_MS = 500;

export const DRIPPED_BLOCKS: Attack = {
  name: 'dripped-blocks',
  does: `lets the first block of ${TRANSFERS} downloads over ${LANES} lanes drip, a byte every ${DRIP_MS / 1000} s, and gives all others at once`,
  promise: 'what comes before its turn is bounded over all downloads',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    await startHostileOrigin(ground, (request) => {
      if (rangeOf(request)?.first === 0) void drip(request, ground.signal);
      else void sendBigFile(ground, request);
    });
    await beginLaned(ground, { downloads: TRANSFERS, lanes: LANES }, (socket) => socket.resume());
    await untilOver(ground.signal);
  },
};

async function drip(request: SeenRequest, signal: AbortSignal): Promise<void> {
  beginBigFile(request);
  while (!signal.aborted && request.socket.writable) {
    request.socket.write('x');
    await delay(DRIP_MS, undefined, { signal }).catch(() => undefined);
  }
}
