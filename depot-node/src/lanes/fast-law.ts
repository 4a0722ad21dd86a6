/**
 * The law of MPFAST, multipath FAST TCP, on blocks instead of packets: a block is what a lane has in flight, its delay is
 * what a round trip is there.
 */

export interface FastLawConfig {
  readonly alphaBytes: number;
  /** Weight of the new value, more than 0 and at most 1. */
  readonly gain: number;
}

interface LaneLoad {
  /** Size of its blocks, w. */
  readonly sizeBytes: number;
  /** Its rate, x = w / T with T the delay of a whole block. */
  readonly bytesPerMs: number;
  /** Least delay seen, d: propagation without queueing. */
  readonly leastDelayMs: number;
  /** Its part of alpha, theta. */
  readonly share: number;
}

/**
 * Size of a lane's next block, w <- min(2 w, g (d w / T + theta alpha) + (1 - g) w). It rests where
 * w = d x + theta alpha: what is on the way, and this lane's part of what all lanes keep ready.
 */
export function nextBlockBytes(lane: LaneLoad, { alphaBytes, gain }: FastLawConfig): number {
  const { sizeBytes, bytesPerMs, leastDelayMs, share } = lane;
  // d is the least T, so that no more than the block itself can be on the way.
  const onTheWayBytes = Math.min(sizeBytes, leastDelayMs * bytesPerMs);
  const wanted = gain * (onTheWayBytes + share * alphaBytes) + (1 - gain) * sizeBytes;
  return Math.min(2 * sizeBytes, wanted);
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
