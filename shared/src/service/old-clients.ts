/** BusyBox and libfetch: BusyBox knows no 307 before its version 1.34. GNU Wget names its version. */
const OLD_WAYS = /^Wget$|libfetch/;

/** Browsers. What calls itself compatible to one is none, such as HTTrack. */
const BROWSER = /^Mozilla\/5\.0 \((?!compatible;)/;

/** Whether a client, by its `User-Agent`, has to be redirected by 302. */
export function isRedirectedAsOfOld(userAgent: string | undefined): boolean {
  return userAgent !== undefined && OLD_WAYS.test(userAgent);
}

/**
 * Whether a client, by its `User-Agent`, may have the add-on, which alone reads the fragment of a redirect.
 * BusyBox, libfetch, axel, uclient-fetch, older ffmpeg and others send it to the server, as part of the path.
 */
export function mayHaveAddOn(userAgent: string | undefined): boolean {
  return userAgent !== undefined && BROWSER.test(userAgent);
}
