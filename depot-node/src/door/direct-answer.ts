import type { IncomingMessage } from 'node:http';
import {
  directLocation,
  ERRORS,
  type ErrorCode,
  HEADERS,
  isPageAddress,
  type LonghaulError,
  type OriginUrl,
  originHref,
} from '@longhaul/shared';
import { isRedirectedAsOfOld, mayHaveAddOn } from '@longhaul/shared/service';
import { isHiddenName } from '../names/hidden-name.ts';
import { StillAtWork } from '../origin/still-at-work.ts';
import { mayBeLed } from './asked-part.ts';
import { LEADING_HEADERS, ownHeaders } from './client-headers.ts';

/**
 * What a depot takes for no answer no client should: it may be a file that lacks its end. Of an answer that
 * only does not come nothing is lacking.
 */
const BAD_FOR_ALL: ErrorCode = 'origin-bad-answer';

/** An answer that leads a client to the origin itself. */
export interface DirectAnswer {
  readonly status: 302 | 307;
  readonly headers: readonly (readonly [string, string])[];
}

interface LedClient {
  readonly jobId: string;
  readonly ownId: string;
  readonly failure?: LonghaulError | undefined;
  /** The client has gone to a page, and is led to see it. */
  readonly isToPage?: boolean;
}

/** Leads a client to where its download began; with what has failed, where something has. */
export function directAnswer(
  { headers }: IncomingMessage,
  url: OriginUrl,
  { jobId, ownId, failure, isToPage = false }: LedClient,
): DirectAnswer {
  // By a page's address no rule of the add-on could lead back.
  const isPage = isToPage && isPageAddress(url);
  return {
    status: isRedirectedAsOfOld(headers['user-agent']) ? 302 : 307,
    headers: [
      ...ownHeaders(jobId, failure?.depot ?? ownId, LEADING_HEADERS),
      ...(failure ? [[HEADERS.error, failure.code] as const] : []),
      ['Location', mayHaveAddOn(headers) && !isPage ? directLocation(url) : originHref(url)],
      ['Content-Length', '0'],
    ],
  };
}

/**
 * Whether a client may get itself what a depot has failed to: it has another address, other names and roots,
 * cookies and logins, and goes from https to http where it likes. Not who names a version of what it has:
 * browsers do, and would drop that.
 */
export function isBetterDirect(failure: LonghaulError, request: Pick<IncomingMessage, 'headers'>): boolean {
  const { code, blame } = failure;
  const isBadForAll = code === BAD_FOR_ALL && !(failure instanceof StillAtWork);
  const mayBeBetter = (ERRORS[code].direct || blame === 'master' || isHiddenName(failure)) && !isBadForAll;
  return mayBeBetter && mayBeLed(request);
}
