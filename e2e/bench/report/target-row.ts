import type { TargetOutcome } from '../../lab/report/report-plan.ts';

/** A promise with what was measured of it. */
export interface TargetRow extends TargetOutcome {
  /** For example `8 flows`. */
  readonly place: string;
  /** For example `CPU at most 0.45 x nginx-best`. */
  readonly text: string;
}
