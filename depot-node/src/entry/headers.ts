/** Which headers pass, in each direction. Everything that is not named here stays where it came from. */
import type { IncomingHttpHeaders } from 'node:http';
import { hostHeader, type OriginUrl } from '@longhaul/shared';

/** Headers that say which part or version of a file is wanted. */
export const CONDITIONS = [
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
] as const;

const TO_ORIGIN = [...CONDITIONS, 'accept', 'user-agent'] as const;

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

/** Headers of the depot's own request to the origin. */
export function headersToOrigin(
  client: IncomingHttpHeaders,
  url: OriginUrl,
  depotId: string,
): Record<string, string> {
  const headers: Record<string, string> = { host: hostHeader(url) };
  for (const name of TO_ORIGIN) {
    const value = client[name];
    if (typeof value === 'string') headers[name] = value;
  }
  headers['accept-encoding'] = 'identity';
  headers.via = `1.1 longhaul-${depotId}`;
  headers.connection = 'close';
  return headers;
}

/** Headers that no answer of a depot lacks: nothing may run under its name, be kept, or be told where it came from. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'private, no-store',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The origin's headers that go on to the client, as pairs, with the origin's own spelling and order. */
export function headersToClient(rawHeaders: readonly string[]): [string, string][] {
  const passed: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (TO_CLIENT.has(name.toLowerCase())) passed.push([name, rawHeaders[index + 1] ?? '']);
  }
  return passed;
}
