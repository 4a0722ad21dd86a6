import { setTimeout as delay } from 'node:timers/promises';
import { rounded } from '../../lab/results/rounded.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchCase, CaseStage, Party } from './bench-case.ts';
import { startCaseOverlay } from './case-overlay.ts';
import { takeByCurl } from './curl-sink.ts';
import { LARGE_BYTES, QUICK_LARGE_BYTES } from './open-case-stage.ts';

/** Until the end of a download has been worked off. */
const SETTLE_MS = 150;
/** After which a depot rests, and for how long it is then watched. */
const REST_MS = 5000;
const WATCH_MS = 5000;

export const SINGLE_DEPOT_CASES: readonly BenchCase[] = [
  { id: 'digests', warmsUp: true, start: startDigests },
  {
    id: 'at-rest',
    warmsUp: false,
    start: async (stage) => ({ parties: [atRest(stage)], stop: async () => {} }),
  },
];

async function startDigests(stage: CaseStage) {
  const bodyBytes = stage.isQuick ? QUICK_LARGE_BYTES : LARGE_BYTES;
  const depots = [{ id: 'd1', cores: 'relay' as const }];
  const usual = await startCaseOverlay(stage, { depots });
  const always = await startCaseOverlay(stage, { depots, depotConfig: { integrity: { digest: 'always' } } });
  const party = (name: string, overlay: typeof usual, path: string): Party => {
    const group = processGroup(overlay.pidOf('d1'));
    return {
      name,
      measure: async () => {
        const addresses = [overlay.address({ chain: ['d1'], path })];
        const before = group.cpuNs();
        const seconds = await takeByCurl(stage, { addresses, bodyBytes });
        await delay(SETTLE_MS);
        const bodyGB = bodyBytes / 1e9;
        return {
          cpuSecondsPerGB: rounded(Number(group.cpuNs() - before) / 1e9 / bodyGB, 3),
          goodputGbps: rounded((bodyGB * 8) / seconds, 3),
        };
      },
    };
  };
  return {
    parties: [
      party('no digest', usual, `/b${bodyBytes}`),
      party('stated by the origin', usual, `/stated/b${bodyBytes}`),
      party('always', always, `/b${bodyBytes}`),
      party('of what the client has', usual, `/whole/b${bodyBytes}`),
    ],
    stop: async () => {
      await Promise.all([usual.stop(), always.stop()]);
    },
  };
}

/** A depot of its own for each run: what it takes as it grows is not its rest. */
function atRest(stage: CaseStage): Party {
  return {
    name: 'longhaul',
    measure: async () => {
      const overlay = await startCaseOverlay(stage, { depots: [{ id: 'd1', cores: 'relay' }] });
      try {
        const group = processGroup(overlay.pidOf('d1'));
        await delay(REST_MS);
        const before = group.cpuNs();
        await delay(WATCH_MS);
        return {
          residentMB: rounded(group.rssBytes() / 1e6, 1),
          privateMB: rounded(group.privateBytes() / 1e6, 1),
          threads: group.threadsCpuNs().size,
          cpuPercent: rounded((Number(group.cpuNs() - before) / 1e6 / WATCH_MS) * 100, 2),
        };
      } finally {
        await overlay.stop();
      }
    },
  };
}
