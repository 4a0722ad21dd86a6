import type { ServerResponse } from 'node:http';
import { STATIC_PAGE_POLICY } from '@longhaul/shared/service';

/**
 * The page loads only what this master serves. Its form may lead anywhere, because browsers apply form-action to
 * redirects too, and those lead to depots and origins.
 */
const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; object-src 'none'";

/** What every answer carries: nothing is sniffed, framed, or told to other sites by the referrer. */
export const SECURITY_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Content-Security-Policy', PAGE_POLICY],
] as const;

/**
 * What a redirect to a download carries: all of them but the referrer's policy, which would take the place of the
 * page's own wherever the client is led from here, up to the origin that looks at who links to it. Scripts of other
 * sites are led as well: they read nothing of a redirect, and what it leads to says itself who may.
 */
export const REDIRECT_HEADERS = [
  ...SECURITY_HEADERS.filter(([name]) => name !== 'Referrer-Policy'),
  ['Access-Control-Allow-Origin', '*'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
] as const;

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
}

/** The policy of a static page whose forms ask this master. */
export const FORM_PAGE_POLICY = `${STATIC_PAGE_POLICY}; form-action 'self'`;
