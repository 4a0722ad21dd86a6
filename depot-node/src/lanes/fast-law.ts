/**
 * A law after that of MPFAST, multipath FAST TCP, on blocks instead of packets. It is not MPFAST: it says how
 * much a lane asks for at once, in one block or several; the connections below keep their own congestion
 * control.
 */

export interface FastLawConfig {
  readonly alphaBytes: number;
  /** Weight of the new value, more than 0 and at most 1. */
  readonly gain: number;
}

interface LaneLoad {
  /** What it fetches at once, w. */
  readonly loadBytes: number;
  /** Its rate, x = w / T with T the delay of all that. */
  readonly bytesPerMs: number;
  /** Least delay seen, d: propagation without queueing. */
  readonly leastDelayMs: number;
  /** Its part of alpha, theta. */
  readonly share: number;
}

/**
 * What a lane fetches at once next, w <- min(2 w, g (d w / T + theta alpha) + (1 - g) w). It rests where
 * w = d x + theta alpha: what is on the way, and this lane's part of what all lanes keep ready.
 */
export function nextBlockBytes(lane: LaneLoad, { alphaBytes, gain }: FastLawConfig): number {
  const { loadBytes, bytesPerMs, leastDelayMs, share } = lane;
  // d is the least T, so that no more than was asked for can be on the way.
  const onTheWayBytes = Math.min(loadBytes, leastDelayMs * bytesPerMs);
  const wanted = gain * (onTheWayBytes + share * alphaBytes) + (1 - gain) * loadBytes;
  return Math.min(2 * loadBytes, wanted);
}

/**
 * Each lane's share, theta = (1 - e) x / y + e / N: its part of the whole rate, with a small pull to the middle. A lane
 * not yet measured counts as the mean of the others. The shares' sum is 1.
 */
export function laneShares(rates: readonly (number | undefined)[], minShare: number): number[] {
  const known = rates.filter((rate) => rate !== undefined);
  const knownSum = known.reduce((sum, rate) => sum + rate, 0);
  const even = 1 / rates.length;
  if (knownSum <= 0) return rates.map(() => even);
  const mean = knownSum / known.length;
  const whole = mean * rates.length;
  return rates.map((rate) => ((1 - minShare) * (rate ?? mean)) / whole + minShare * even);
}
