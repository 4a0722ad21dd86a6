import type { Scenario } from '../experiment.ts';
import { type ModelledWay, modelledWay } from '../experiments/predictions.ts';
import { LabRefusal } from '../refusal.ts';
import { isFailed } from '../report/cells.ts';
import { type MedianTime, medianTime } from '../results/median-time.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { drawnExperiment, MOST_DRAWN } from './drawn-chains.ts';
import { GRID_CELLS, type Half } from './grid-cells.ts';

/** What a way is for: constants are fitted on the first, and all are judged on the others. */
export type PartOfRun = Half | 'drawn';

/** All transfers of one way under one set of conditions, with what the model is asked of it. */
export interface MeasuredWay {
  readonly part: PartOfRun;
  readonly scenario: Scenario;
  readonly variant: string;
  readonly modelled: ModelledWay;
  /** Those that did not fail; at least one. */
  readonly lines: readonly TransferLine[];
  readonly time: MedianTime;
}

/**
 * Sorts lines into the ways that a seed has, in the order of the grid and of the drawn topologies; failed
 * transfers count nowhere. Throws a refusal when a line belongs to no way: what was measured under other
 * conditions than those of today must not be judged by these.
 */
export function measuredWays(seed: number, lines: readonly TransferLine[]): MeasuredWay[] {
  const byWay = Map.groupBy(lines, keyOf);
  const ways = conditionsOf(seed).flatMap(({ part, scenario }) =>
    Object.entries(scenario.variants).flatMap(([variant, way]): MeasuredWay[] => {
      const key = keyOf({ scenario: scenario.id, variant });
      const own = byWay.get(key)?.filter((line) => !isFailed(line)) ?? [];
      byWay.delete(key);
      const modelled = own.length > 0 ? modelledWay(scenario, way) : undefined;
      return modelled ? [{ part, scenario, variant, modelled, lines: own, time: medianTime(own) }] : [];
    }),
  );
  const [stranger] = [...byWay.values()].flat();
  if (!stranger) return ways;
  throw new LabRefusal(
    'lab-result-file',
    `The result has a transfer of ${stranger.variant} in ${stranger.scenario}, which the experiment no longer knows: run it again, or report it with the version that measured it.`,
  );
}

function conditionsOf(seed: number): { readonly part: PartOfRun; readonly scenario: Scenario }[] {
  return [
    ...GRID_CELLS.map(({ half, scenario }) => ({ part: half, scenario })),
    ...drawnExperiment(seed, MOST_DRAWN).scenarios.map((scenario) => ({ part: 'drawn' as const, scenario })),
  ];
}

const keyOf = ({ scenario, variant }: Pick<TransferLine, 'scenario' | 'variant'>) => `${scenario} ${variant}`;
