import type { IncomingHttpHeaders } from 'node:http';
import { hostHeader, type OriginUrl } from '@longhaul/shared';

/** By what a client names the version that it goes on with. */
export const OF_VERSION = ['if-match', 'if-unmodified-since', 'if-range'] as const;

/** What a client makes an answer depend on, beside the version that it goes on with. */
export const OF_CHANGE = ['if-none-match', 'if-modified-since'] as const;

const [IF_MATCH, ...OTHERS_OF_VERSION] = OF_VERSION;

/** Headers that say which part or version of a file is wanted, in the order in which an origin is told them. */
const CONDITIONS = ['range', IF_MATCH, ...OF_CHANGE, ...OTHERS_OF_VERSION] as const;

/**
 * Headers by which an origin chooses among the variants of a file: they go along with each request of a
 * download, or its parts are of different ones.
 */
const OF_VARIANT = ['accept', 'accept-language', 'user-agent'] as const;

/** Which of a client's headers go on to the origin. Everything that is not named here stays with the depot. */
export const TO_ORIGIN = [...CONDITIONS, ...OF_VARIANT, 'want-digest', 'want-repr-digest'] as const;

/** Of a client's headers those that go along with the further requests of its download, whatever they ask for. */
export function headersOfVariant(client: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(OF_VARIANT.map((name) => [name, client[name]]));
}

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
