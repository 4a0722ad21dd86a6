import { chainSeconds, type LegEstimate, type SetUp } from '@longhaul/shared';
import type { PlannerConfig } from '../config.ts';

/** Numbers of lanes that are compared: each step doubles what losses leave, and asks as much more of the origin. */
const LANE_STEPS: readonly number[] = [1, 2, 4, 8];
/** A time within this factor of the best is as good: then fewer connections are the better plan. */
export const AS_GOOD_AS_BEST = 1.03;

/** The numbers of lanes to choose from, ascending: what the client asks for, else those that pay for this size. */
export function laneChoices(
  { maxLanes, minLaneBytes }: Pick<PlannerConfig, 'maxLanes' | 'minLaneBytes'>,
  sizeBytes: number,
  asked: number | undefined,
): readonly number[] {
  if (asked !== undefined) return [asked];
  return sizeBytes < minLaneBytes ? [1] : LANE_STEPS.filter((lanes) => lanes <= maxLanes);
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
