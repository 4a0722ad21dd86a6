/**
 * BusyBox and libfetch: both send the fragment of a redirect to the server, and BusyBox knows no 307 before its version 1.34. GNU Wget names its
 * version.
 */
const OLD_WAYS = /^Wget$|libfetch/;

/** Whether a client, by its `User-Agent`, has to be redirected by 302 and without a fragment. */
export function isRedirectedAsOfOld(userAgent: string | undefined): boolean {
  return userAgent !== undefined && OLD_WAYS.test(userAgent);
}
