import { type LegShape, type SetUp, secondsWithBreaks, shapesSeconds } from '@longhaul/shared';
import { SCENARIOS } from '../links/leg-scenarios.ts';
import type { OverlayLeg } from './overlay-leg.ts';

interface Expected {
  readonly parts: readonly Pick<OverlayLeg, 'shape' | 'scenarios' | 'isInDoubt'>[];
  readonly lanes: number;
  readonly sizeBytes: number;
  readonly setUp: SetUp;
  /** What the chain's depots leave to it, segments per second. */
  readonly roomPerSecond: number;
  readonly breaksPerSecond: number;
}

/** The mean time of a chain over what may be: a leg that nobody knows counts with the times in which it is slow. */
export function expectedSeconds(chain: Expected): number {
  // What is sure is the same in all that may be.
  if (!chain.parts.some((part) => part.isInDoubt)) return secondsAsKnown(chain);
  let sum = 0;
  for (const seconds of scenarioSeconds(chain)) sum += seconds;
  return sum / SCENARIOS.length;
}

/**
 * The times of a chain in all that may be. Of two chains those at one place belong together: a leg that both
 * have is the same there.
 */
export function scenarioSeconds(chain: Expected): readonly number[] {
  const { lanes } = chain;
  const legs = chain.parts.map((part, index) => part.scenarios(index === 0 ? 1 : lanes));
  return SCENARIOS.map((scenario) =>
    secondsOver(
      legs.flatMap((shapes) => shapes[scenario] ?? []),
      chain,
    ),
  );
}

/** The time of a chain by what is likeliest of each leg. */
export function secondsAsKnown(chain: Expected): number {
  const { parts, lanes } = chain;
  return secondsOver(
    parts.map((part, index) => part.shape(index === 0 ? 1 : lanes)),
    chain,
  );
}

function secondsOver(
  shapes: readonly LegShape[],
  { sizeBytes, setUp, lanes, roomPerSecond, breaksPerSecond }: Expected,
): number {
  return secondsWithBreaks(shapesSeconds(shapes, sizeBytes, setUp, lanes, roomPerSecond), breaksPerSecond);
}
