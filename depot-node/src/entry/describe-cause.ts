import type { LonghaulError } from '@longhaul/shared';

/** What lies behind a failure, for the log. */
export function describeCause(error: LonghaulError): string | undefined {
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return error.detail ?? cause;
}
