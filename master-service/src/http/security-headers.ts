import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/**
 * The page loads only what this master serves. Its form may lead anywhere, because browsers apply form-action to
 * redirects too, and those lead to depots and origins.
 */
const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; object-src 'none'";

/** Sets what every answer carries: nothing is sniffed, framed, or told to other sites by the referrer. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
}

/** The policy of a page without scripts and anything loaded, whose only style is `style`; its forms ask this master. */
export function staticPagePolicy(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
}
