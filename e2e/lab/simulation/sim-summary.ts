import { mean, median, quantile } from '../results/statistics.ts';
import { ORIGIN_SENDS, type OriginSends } from './sim-line.ts';

/** One download as it went. */
export interface SimOutcome {
  /** Its client lies of others: what becomes of it is its own matter. */
  readonly isLiars: boolean;
  readonly seconds: number;
  readonly bestSeconds: number;
  readonly directSeconds: number;
  readonly predictedSeconds: number;
  readonly planMs: number;
  readonly isChain: boolean;
  readonly isBestChain: boolean;
  readonly originSends: OriginSends;
  readonly sizeBytes: number;
}

/** What a line says of downloads in a row. */
export function summaryOf(outcomes: readonly SimOutcome[]) {
  // There is no mean of nothing, nor a worst of it.
  if (outcomes.length === 0) return { downloads: 0 as const, carriedBytes: 0 };
  const regrets = outcomes.map(({ seconds, bestSeconds }) => seconds / bestSeconds - 1);
  const share = (is: (outcome: SimOutcome) => boolean) => outcomes.filter(is).length / outcomes.length;
  const planMs = outcomes.map((outcome) => outcome.planMs);
  return {
    downloads: outcomes.length,
    regret: {
      mean: mean(regrets),
      median: median(regrets),
      p90: quantile(regrets, 0.9),
      worst: Math.max(...regrets),
    },
    byOrigin: Object.fromEntries(
      ORIGIN_SENDS.map((sends) => {
        const own = outcomes.flatMap(({ originSends }, at) =>
          originSends === sends ? [regrets[at] ?? 0] : [],
        );
        return [sends, own.length > 0 ? mean(own) : 0];
      }),
    ) as Record<OriginSends, number>,
    score: mean(outcomes.map(({ seconds, bestSeconds }) => bestSeconds / seconds)),
    directScore: mean(outcomes.map(({ directSeconds, bestSeconds }) => bestSeconds / directSeconds)),
    chainShare: share(({ isChain }) => isChain),
    bestChainShare: share(({ isBestChain }) => isBestChain),
    predictionError: median(
      outcomes.map(({ seconds, predictedSeconds }) => Math.abs(Math.log(seconds / predictedSeconds))),
    ),
    carriedBytes: outcomes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    planMs: { median: median(planMs), worst: Math.max(...planMs) },
  };
}
