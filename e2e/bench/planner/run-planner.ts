import { LinkTable, Planner, readMasterConfig } from '@longhaul/master-service/parts';
import { machineLoad } from '../../lab/results/machine-load.ts';
import type { BenchRun } from '../run/bench-run.ts';
import { drawOverlay } from './draw-overlay.ts';
import { PLANNER_CASE_IDS, type PlannerCaseId, SIZES } from './planner-case.ts';
import type { PlannerLine } from './planner-line.ts';

/** Plans of each kind before the first that counts, and those of which the least counts. */
const WARM_UP = 60;
const TRIES = 20;
const YARDSTICK_LOGARITHMS = 100_000;

export interface PlannerRun extends BenchRun<PlannerLine> {
  readonly cases: readonly PlannerCaseId[];
  readonly seed: number;
}

/** Plans over drawn overlays; each repeat is another overlay, client and origin. */
export function runPlanner({ cases, repeats, seed, file, say, signal }: PlannerRun): void {
  for (const id of PLANNER_CASE_IDS.filter((one) => cases.includes(one)))
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      if (file.lines.some((line) => line.case === id && line.repeat === repeat)) continue;
      signal.throwIfAborted();
      const { ids, links } = drawOverlay(id, seed + repeat);
      const plan = plannerOver(links, 0);
      const planWith = plannerOver(links, 3);
      const depots = ids.map((one) => ({ id: one, tls: false, state: 'up' as const }));
      for (const sizeBytes of SIZES) {
        const ask = () => plan.plan({ sizeBytes, originTls: false }, depots, 0);
        const askWith = () => planWith.plan({ sizeBytes, originTls: false }, depots, 0);
        for (let warm = 0; warm < WARM_UP / repeat; warm += 1) {
          ask();
          askWith();
        }
        const route = ask();
        const line = {
          coldMs: leastMs(ask),
          withAlternativesMs: leastMs(askWith),
          yardstickMs: leastMs(yardstick),
          chain: route.ok ? [...route.value.chain] : [],
        };
        const load = machineLoad();
        file.append({ bench: 'planner', case: id, repeat, sizeBytes, load, ...line });
        say(`${id}, ${repeat}., ${sizeBytes / 1e6} MB: ${line.coldMs.toFixed(2)} ms`);
      }
    }
}

function plannerOver(links: readonly object[], maxAlternatives: number): Planner {
  const config = readMasterConfig({
    listen: { host: '127.0.0.1', port: 0 },
    stateDir: 'unused',
    origins: ['origin.example'],
    links,
    planner: { maxDepots: 4, maxAlternatives },
  });
  return new Planner(config.planner, new LinkTable(config.links, config.planner.assumptions.windowBytes));
}

function leastMs(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const startedMs = performance.now();
    work();
    least = Math.min(least, performance.now() - startedMs);
  }
  return least;
}

let kept = 0;
function yardstick(): void {
  for (let index = 1; index <= YARDSTICK_LOGARITHMS; index += 1) kept += Math.log(index);
}
