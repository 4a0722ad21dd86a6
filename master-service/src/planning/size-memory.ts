import type { SizeReport } from '@longhaul/shared';
import { LruMap } from '../storage/lru-map.ts';

/** URLs whose size is remembered; about 100 bytes each. */
const MAX_SIZES = 100_000;

/** Sizes that depots saw in origins' answers, by the ticket's URL hash. */
export class SizeMemory {
  readonly #sizes = new LruMap<string, number>(MAX_SIZES);

  remember(reports: readonly SizeReport[]): void {
    for (const { urlHash, sizeBytes } of reports) this.#sizes.set(urlHash, sizeBytes);
  }

  recall(urlHash: string): number | undefined {
    return this.#sizes.get(urlHash);
  }
}
