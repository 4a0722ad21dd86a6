import type { Result } from '@longhaul/shared';

/** For Express handlers only: a refusal travels on as a thrown error to the one error handler, which answers it. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.error;
}
