import type { LonghaulError } from '@longhaul/shared';
import type { DepotEvent } from '../events.ts';

/** What broke an admitted download, for log and metrics, with what lies behind it. */
export function refusalEvent(failure: LonghaulError, jobId: string, ownId: string): DepotEvent {
  const { code, depot = ownId, cause } = failure;
  const detail = failure.detail ?? (cause instanceof Error ? cause.message : undefined);
  return { type: 'refusal', code, jobId, depot, detail };
}
