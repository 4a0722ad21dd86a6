import { canonicalOriginUrl, type GetOptions, type OriginUrl, type TicketKind } from '@longhaul/shared';
import { LruMap } from '../storage/lru-map.ts';

/** Download managers ask again for every range; for so long they get the same ticket and job. */
export const SAME_PLAN_MS = 60_000;
/** Plans kept at once, about 3 kB each. */
const MAX_PLANS = 5000;

export interface PlanKey {
  readonly clientPrefix: string;
  readonly url: OriginUrl;
  readonly options: GetOptions;
  readonly kind: TicketKind;
}

interface Kept<Plan> {
  readonly plan: Plan;
  readonly madeAtMs: number;
}

/** Plans given out in the last minute. */
export class PlanCache<Plan> {
  readonly #plans = new LruMap<string, Kept<Plan>>(MAX_PLANS);

  get(key: PlanKey, nowMs: number): Plan | undefined {
    const kept = this.#plans.get(textOf(key));
    return kept && Math.abs(nowMs - kept.madeAtMs) < SAME_PLAN_MS ? kept.plan : undefined;
  }

  set(key: PlanKey, plan: Plan, nowMs: number): void {
    this.#plans.set(textOf(key), { plan, madeAtMs: nowMs });
  }
}

function textOf({ clientPrefix, url, options, kind }: PlanKey): string {
  const { sizeBytes = null, via = [], avoid = [] } = options;
  return JSON.stringify([clientPrefix, canonicalOriginUrl(url), sizeBytes, via, avoid.toSorted(), kind]);
}
