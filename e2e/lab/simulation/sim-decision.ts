import type { LegEstimate } from '@longhaul/shared';
import type { Way } from './oracle.ts';
import type { Believed } from './planner-port.ts';
import type { Knowledge, OriginSends } from './sim-line.ts';

/** One decision, with what was believed and what was true. */
export interface SimDecision {
  readonly knowledge: Knowledge;
  /** Of its knowledge, from 1 on. */
  readonly number: number;
  readonly hours: number;
  readonly client: number;
  readonly origin: number;
  readonly sizeBytes: number;
  readonly originSends: OriginSends;
  readonly regret: number;
  readonly predictedSeconds: number;
  readonly seconds: number;
  readonly directSeconds: number;
  readonly taken: Way;
  readonly best: Way & { readonly seconds: number };
  readonly believed: Believed | undefined;
  readonly trueDirect: LegEstimate | undefined;
  /** Of the way that was taken. */
  readonly trueLegs: readonly LegEstimate[];
}
