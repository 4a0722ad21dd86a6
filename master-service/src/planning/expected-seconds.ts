import { type SetUp, secondsWithBreaks, shapesSeconds } from '@longhaul/shared';
import { SCENARIOS } from './leg-scenarios.ts';
import type { OverlayLeg } from './overlay-leg.ts';

interface Expected {
  readonly parts: readonly OverlayLeg[];
  readonly lanes: number;
  readonly sizeBytes: number;
  readonly setUp: SetUp;
  /** What the chain's depots leave to it, segments per second. */
  readonly roomPerSecond: number;
  readonly breaksPerSecond: number;
}

/** The mean time of a chain over what may be: a leg that nobody knows counts with the times in which it is slow. */
export function expectedSeconds(chain: Expected): number {
  return scenarioSeconds(chain).reduce((sum, seconds) => sum + seconds, 0) / SCENARIOS.length;
}

/** The times of a chain in all that may be. Of two chains those at one place belong together: a leg that both have is the same there. */
export function scenarioSeconds(chain: Expected): readonly number[] {
  const { parts, lanes, sizeBytes, setUp, roomPerSecond, breaksPerSecond } = chain;
  const legs = parts.map((part, index) => part.scenarios(index === 0 ? 1 : lanes));
  return SCENARIOS.map((scenario) => {
    const shapes = legs.flatMap((shapesOf) => shapesOf[scenario] ?? []);
    const seconds = shapesSeconds(shapes, sizeBytes, setUp, lanes, roomPerSecond);
    return secondsWithBreaks(seconds, breaksPerSecond);
  });
}
