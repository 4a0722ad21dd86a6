import type { LonghaulError } from '@longhaul/shared';

/** Clients that may come back wait this long. */
const RETRY_AFTER_SECONDS = 5;

/** The header that says when to come back, for a failure that is answered with `status`. */
export function retryAfter(error: LonghaulError, status = error.status): Record<string, string> {
  return status === 503 && error.retry ? { 'Retry-After': String(RETRY_AFTER_SECONDS) } : {};
}
