import { HEADERS } from '@longhaul/shared';

/** Which of an origin's headers go on to the client. Everything that is not named here stays with the depot. */
const TO_CLIENT = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
  'repr-digest',
  'content-digest',
  'digest',
  'content-md5',
  'date',
  'retry-after',
]);

/** By what an origin opens an answer to the scripts and pages of all sites, without their users' cookies. */
const OPEN_TO_ALL: ReadonlyMap<string, string> = new Map([
  ['access-control-allow-origin', '*'],
  ['cross-origin-resource-policy', 'cross-origin'],
]);

/** Headers that no answer of a depot lacks: nothing may run under its name, be kept, or be told where it came from. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'private, no-store',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const { 'Referrer-Policy': _ofPages, ...ofRedirects } = SAFETY_HEADERS;

/**
 * The same of an answer that leads elsewhere, but for the referrer's policy, which would take the place of the
 * page's own up to the origin: that may give its files only to who comes from its pages. It leads scripts, too,
 * which read nothing of it.
 */
export const LEADING_HEADERS: Readonly<Record<string, string>> = {
  ...ofRedirects,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** What an answer in a job says of the depot that gives it. */
export function ownHeaders(jobId: string, depotId: string, headers = SAFETY_HEADERS): [string, string][] {
  return [...Object.entries(headers), [HEADERS.depot, depotId], [HEADERS.job, jobId]];
}

/**
 * The origin's headers that go on to the client, as pairs, with the origin's own spelling and order. What opens an
 * answer to some sites does not: the origin has not seen which one asks.
 */
export function headersToClient(rawHeaders: readonly string[]): [string, string][] {
  const passed: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (TO_CLIENT.has(name.toLowerCase()) || isOpenToAll(rawHeaders, name))
      passed.push([name, rawHeaders[index + 1] ?? '']);
  }
  return passed;
}

/** Whether this header opens an answer to all: said once, because browsers take two values for none. */
function isOpenToAll(rawHeaders: readonly string[], name: string): boolean {
  const value = OPEN_TO_ALL.get(name.toLowerCase());
  if (value === undefined) return false;
  const isNamedSo = (_: string, index: number) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name.toLowerCase();
  const said = rawHeaders.filter(isNamedSo);
  return said.length === 1 && said[0]?.trim() === value;
}
