import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type HeartbeatRequest, hashOriginUrl, parseOriginUrl, planAnswerSchema } from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import type { Attack } from '../attack.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';

const URLS = 200;
const SIZES = [0, 1, 2 ** 53, 9e15, 1e14, -5, 0.5];
const PAUSE_MS = 100;

export const ABSURD_REPORTS: Attack = {
  name: 'absurd-reports',
  does: 'a depot of the overlay reports absurd sizes of files that it was never asked for, absurd rates, delays and losses, and reports that do not fit',
  promise: 'nobody else is planned by what it says',
  worlds: ['splice'],
  quick: [],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    await liar.join((socket) => socket.destroy());
    const hrefs = Array.from({ length: URLS }, () => `http://popular.files.example${ground.path(1000)}`);
    const hashes = hrefs.map((href) => {
      const url = parseOriginUrl(href);
      if (!url.ok) throw url.error;
      return hashOriginUrl(url.value, sha256);
    });
    for (let turn = 0; !ground.signal.aborted; turn += 1) {
      ground.tally.case();
      const status = await liar.post(`/v1/depots/${LIAR_ID}/heartbeat`, reportOf(turn, hashes));
      ground.tally.answer(`report: ${status}`);
      const href = hrefs[turn % hrefs.length] ?? '';
      const { sizeSource, chain } = await planFor(href);
      ground.tally.answer(chain.includes(LIAR_ID) ? 'planned over the liar' : 'planned past the liar');
      if (sizeSource === 'reported')
        ground.tally.broke('a size is believed of those who saw the file alone', href);
      await delay(PAUSE_MS);
    }

    async function planFor(url: string) {
      const answer = await ground.ask('master', 'POST', '/v1/plans', {
        body: JSON.stringify({ url }),
        headers: { 'Content-Type': 'application/json' },
      });
      return planAnswerSchema.parse(JSON.parse(await text(answer)));
    }
  },
};

/** Every other one does not fit its schema. */
function reportOf(turn: number, hashes: readonly string[]): object {
  const sizeBytes = SIZES[turn % SIZES.length] ?? 1;
  const report: HeartbeatRequest = {
    activeTransfers: turn,
    draining: false,
    links: ['d1', 'd2', 'd3', 'client', 'origin', LIAR_ID].map((to) => ({
      to,
      rttMs: 0,
      lossRate: 0,
      goodputBps: 1e13,
    })),
    sizes: hashes.map((urlHash) => ({ urlHash, sizeBytes })),
  };
  switch (turn % 4) {
    case 0:
      return { ...report, sizes: hashes.map((urlHash) => ({ urlHash, sizeBytes: 1 + turn })) };
    case 1:
      return { ...report, links: Array.from({ length: 2000 }, () => report.links[0]) };
    case 2:
      return { ...report, activeTransfers: Number.MAX_VALUE, more: 'x'.repeat(200_000) };
    default:
      return report;
  }
}
