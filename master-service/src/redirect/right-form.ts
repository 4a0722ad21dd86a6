import { formatGetPath, LonghaulError, parseGetTarget } from '@longhaul/shared';

/** A URL as it was copied, behind `/get/` and its options; what merges slashes has left one of two. */
const PASTED = /^(\/get\/(?:~[^/]*\/)?https?):\/\/?/i;

/**
 * The same refusal, with what to write where somebody has put a whole URL behind `/get/`: only of an address
 * that could be parsed, so that nobody writes sentences on this master.
 */
export function withRightForm(error: LonghaulError, rawTarget: string): LonghaulError {
  const meant = PASTED.test(rawTarget) ? parseGetTarget(rawTarget.replace(PASTED, '$1/')) : undefined;
  if (!meant?.ok) return error;
  return new LonghaulError(error.code, {
    detail: `write ${formatGetPath(meant.value.url, meant.value.options)}`,
    cause: error,
  });
}
