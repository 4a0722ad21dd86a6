import { clientAddress, rateBpsOf } from '@longhaul/shared';
import type { Decided } from './issued-plan.ts';

/**
 * A file of which nobody knows the size takes this share of the time that one of the assumed size takes, in
 * the mean over usual sizes.
 */
const SHARE_OF_ASSUMED = 0.3;

/** What a plan promises a client of each depot of its chain. */
export interface PromisedDownload {
  readonly client: string;
  readonly bps: number;
  readonly seconds: number;
}

/** What a client is promised by what was decided. */
export function promisedTo(address: string, { size, route }: Decided): PromisedDownload {
  const { sizeBytes, source } = size;
  // A chain that was asked for is not compared with others.
  const seconds = route.expectedSeconds || route.prediction.seconds;
  const share = source === 'assumed' ? SHARE_OF_ASSUMED : 1;
  return { client: clientAddress(address), bps: rateBpsOf(sizeBytes, seconds), seconds: share * seconds };
}
