import type { IncomingHttpHeaders } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import { OF_VERSION } from '../origin/origin-headers.ts';

/** What a client asks for. */
interface Asked {
  readonly headers: IncomingHttpHeaders;
}

/** Whether a client names the version that it goes on with. */
export function namesVersion(asked: IncomingHttpHeaders): boolean {
  return OF_VERSION.some((name) => asked[name] !== undefined);
}

/** Whether a client asks for a part that does not begin with the file. */
export function isLaterPart({ range }: IncomingHttpHeaders): boolean {
  return range !== undefined && !/^bytes=0+-/.test(range);
}

/** Whether a request is for a file from its first byte to its last. */
export function isFromBeginning({ headers: { range = 'bytes=0-' } }: Asked): boolean {
  return range === 'bytes=0-';
}

/**
 * Whether a client may be led to the origin, at an address that has given nothing yet: who begins with a file
 * has nothing that a redirect would take, and of a part who names no version of it. Not who only looks, which
 * is the add-on: it reads no code in a redirect.
 */
export function mayBeLed(request: Asked): boolean {
  return !onlyLooks(request) && (isFromBeginning(request) || !namesVersion(request.headers));
}

/** Whether somebody asks what a depot would answer, and is to be told that where it is a failure. */
export function onlyLooks({ headers }: Asked): boolean {
  return headers[HEADERS.probe] !== undefined;
}
