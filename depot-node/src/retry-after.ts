/** Clients that may come back wait this long. */
const RETRY_AFTER_SECONDS = 5;

/** The header that says when to come back, for a refusal that waiting may help. */
export function retryAfter(status: number, mayPass: boolean): Record<string, string> {
  return status === 503 && mayPass ? { 'Retry-After': String(RETRY_AFTER_SECONDS) } : {};
}
