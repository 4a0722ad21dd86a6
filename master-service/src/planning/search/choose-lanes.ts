import { chainSeconds, type LegEstimate, type SetUp } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';

/**
 * Numbers of lanes that are compared. Not two: where losses hold one connection back, four brought more
 * already at 0.1 %, which the model of TCP does not see. A packet lost on one of two holds back half of what
 * comes next.
 */
const LANE_STEPS: readonly number[] = [1, 4, 8];
/** A time within this factor of the best is as good: then fewer connections are the better plan. */
export const AS_GOOD_AS_BEST = 1.03;

/** The numbers of lanes to choose from, ascending: what the client asks for, else those that pay for this size. */
export function laneChoices(
  { maxLanes, minLaneBytes }: Pick<PlannerConfig, 'maxLanes' | 'minLaneBytes'>,
  sizeBytes: number,
  asked: number | undefined,
): readonly number[] {
  if (asked !== undefined) return [asked];
  if (sizeBytes < minLaneBytes) return [1];
  const steps = LANE_STEPS.filter((lanes) => lanes <= maxLanes);
  return steps.length === 1 && maxLanes > 1 ? [1, maxLanes] : steps;
}

/** The least of `choices` whose predicted time is as good as the best one's, with that time. */
export function chooseLanes(
  legs: readonly LegEstimate[],
  sizeBytes: number,
  setUp: SetUp,
  choices: readonly number[],
): { readonly lanes: number; readonly seconds: number } {
  const rated = choices.map((lanes) => ({ lanes, seconds: chainSeconds(legs, sizeBytes, setUp, lanes) }));
  const best = Math.min(...rated.map(({ seconds }) => seconds));
  const least = rated.find(({ seconds }) => seconds <= best * AS_GOOD_AS_BEST);
  return least ?? { lanes: 1, seconds: chainSeconds(legs, sizeBytes, setUp) };
}
