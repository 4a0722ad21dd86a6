import type { Experiment } from '../experiment.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { modelledSeconds, modelledWay } from './predictions.ts';

/** How far the planner's model is off in one scenario and variant. */
export interface ModelError {
  readonly scenario: string;
  readonly variant: string;
  readonly lanes: number;
  /** ln(measured / predicted), of the median seconds. Positive: it took longer than predicted. */
  readonly logRatio: number;
}

/**
 * Holds the planner's model against the transfers of an experiment, direct or over chains chosen by hand,
 * whose legs it is told from the topology. Of a transfer that was cut the bytes that came count, and the time
 * in which they came.
 */
export function modelErrors(experiment: Experiment, lines: readonly TransferLine[]): ModelError[] {
  return experiment.scenarios.flatMap((scenario) =>
    Object.entries(scenario.variants).flatMap(([id, variant]): ModelError[] => {
      const measured = lines.filter(
        (line) =>
          line.experiment === experiment.name &&
          line.scenario === scenario.id &&
          line.variant === id &&
          line.error === undefined,
      );
      const way = measured.length > 0 ? modelledWay(scenario, variant) : undefined;
      if (!way) return [];
      const ratios = measured.map(({ goodputBps, seconds }) =>
        Math.log(seconds / modelledSeconds(way, (goodputBps * seconds) / 8)),
      );
      return [{ scenario: scenario.id, variant: id, lanes: way.lanes, logRatio: median(ratios) }];
    }),
  );
}

/** Median and 90th percentile of how far off a model is, whichever way. */
export function spreadOf(errors: readonly Pick<ModelError, 'logRatio'>[]): {
  readonly median: number;
  readonly p90: number;
} {
  const sizes = errors.map(({ logRatio }) => Math.abs(logRatio)).toSorted((one, other) => one - other);
  return { median: median(sizes), p90: sizes[Math.ceil(0.9 * sizes.length) - 1] ?? 0 };
}
