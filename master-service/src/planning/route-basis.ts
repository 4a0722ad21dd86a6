import { chainSeconds, type LegEstimate, type SetUp } from '@longhaul/shared';
import type { DirectEstimate } from './direct-estimate.ts';

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
}

/** Seconds until the client has so many bytes over the chain, as was predicted. */
export function predictedSeconds({ legs, setUp }: RouteBasis, lanes: number, sizeBytes: number): number {
  return chainSeconds(legs, sizeBytes, setUp, lanes);
}

/** The same of the direct way; `undefined` where it was only derived from the chain, or assumed. */
export function directSeconds({ direct }: RouteBasis, sizeBytes: number): number | undefined {
  const { legs, setUp, source } = direct;
  return source === 'link' ? chainSeconds(legs, sizeBytes, setUp) : undefined;
}

/**
 * What an entry depot does not see of the client's seconds: the handshakes before the request is there, the request's way, and that of
 * the last bytes.
 */
export function unseenSeconds({ legs, setUp }: RouteBasis): number {
  return ((setUp.clientTls ? 3 : 2) * (legs[0]?.rttMs ?? 0)) / 1000;
}
