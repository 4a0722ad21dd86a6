/**
 * Seconds that a leg without losses takes for so many segments, less half its round trip, where the chain
 * lets `capPerSecond` segments through: `shapeSeconds` in closed form. A leg with losses takes no less, but
 * for the slack of a decaying window. At one cap it falls with the round trip up to sqrt(2) times the window
 * that slow start begins with, and grows from there on.
 */
export function losslessSeconds(
  rttSeconds: number,
  capPerSecond: number,
  initialSegments: number,
  wantedSegments: number,
): number {
  const window = (capPerSecond * rttSeconds) / Math.LN2;
  if (window <= initialSegments) return wantedSegments / capPerSecond - rttSeconds / 2;
  if (window >= wantedSegments + initialSegments)
    return rttSeconds * (Math.log2(1 + wantedSegments / initialSegments) - 0.5);
  const doubled = window / initialSegments;
  const start = (rttSeconds / Math.LN2) * (Math.log(doubled) - 1 + 1 / doubled);
  return wantedSegments / capPerSecond + start - rttSeconds / 2;
}
