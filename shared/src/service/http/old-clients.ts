import type { IncomingHttpHeaders } from 'node:http';

/** BusyBox and libfetch: BusyBox knows no 307 before its version 1.34. GNU Wget names its version. */
const OLD_WAYS = /^Wget$|libfetch/;

/** Browsers. What calls itself compatible to one is none, such as HTTrack. */
const BROWSER = /^Mozilla\/5\.0 \((?!compatible;)/;

/** Whether a client, by its `User-Agent`, has to be redirected by 302. */
export function isRedirectedAsOfOld(userAgent: string | undefined): boolean {
  return userAgent !== undefined && OLD_WAYS.test(userAgent);
}

/** What becomes of a request that may be a download: a page, one in a frame, or nothing that is loaded by a page. */
const MAYBE_DOWNLOADED = new Set<unknown>(['document', 'iframe', 'frame', 'empty', undefined]);

/**
 * Whether a request may be one that the add-on looks at, which alone reads the fragment of a redirect. BusyBox,
 * libfetch, axel, uclient-fetch, older ffmpeg and others send it to the server, as part of the path. What a page
 * loads is never led by the add-on, and has a fragment of its own: the part of a film, the view of a picture.
 */
export function mayHaveAddOn(headers: IncomingHttpHeaders): boolean {
  const { 'user-agent': program = '', 'sec-fetch-dest': use } = headers;
  return BROWSER.test(program) && MAYBE_DOWNLOADED.has(use);
}
