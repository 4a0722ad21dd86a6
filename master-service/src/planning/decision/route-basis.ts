import { chainSeconds, type LegEstimate, type SetUp } from '@longhaul/shared';
import type { DirectEstimate } from '../search/direct-estimate.ts';

/** What a prediction was worked out from, so that it can be made again for the bytes that really came. */
export interface RouteBasis {
  /** Of the chain, from the client on; of direct its only one. */
  readonly legs: readonly LegEstimate[];
  readonly setUp: SetUp;
  readonly direct: {
    readonly legs: readonly LegEstimate[];
    readonly setUp: SetUp;
    readonly source: DirectEstimate['source'];
  };
  /** How many times as long as the model says the way was predicted to take. */
  readonly calibration?: number | undefined;
}

/** Seconds until the client has so many bytes over the chain, as was predicted. */
export function predictedSeconds(basis: RouteBasis, lanes: number, sizeBytes: number): number {
  return (basis.calibration ?? 1) * modelSeconds(basis, lanes, sizeBytes);
}

/** The same by the model alone, whatever came of other downloads. */
export function modelSeconds({ legs, setUp }: RouteBasis, lanes: number, sizeBytes: number): number {
  return chainSeconds(legs, sizeBytes, setUp, lanes);
}

/** The same of the direct way; `undefined` where it was only derived from the chain, or assumed. */
export function directSeconds({ direct }: RouteBasis, sizeBytes: number): number | undefined {
  const { legs, setUp, source } = direct;
  return source === 'link' ? chainSeconds(legs, sizeBytes, setUp) : undefined;
}

/**
 * What an entry depot does not see of the client's seconds: the handshakes before the request is there, the
 * request's way, and that of the last bytes.
 */
export function unseenSeconds({ legs, setUp }: RouteBasis): number {
  return ((setUp.clientTls ? 3 : 2) * (legs[0]?.rttMs ?? 0)) / 1000;
}
