import { asLonghaulError, type ErrorCode, LonghaulError } from './errors.ts';

/** An expected outcome: a value, or a refusal that the caller answers with its code and status. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: LonghaulError };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(code: ErrorCode, detail?: string): Result<never> {
  return { ok: false, error: new LonghaulError(code, detail === undefined ? {} : { detail }) };
}

/** The refusal for something thrown; what is not registered becomes `internal`. */
export function refuseThrown(thrown: unknown): Result<never> {
  return { ok: false, error: asLonghaulError(thrown) };
}
