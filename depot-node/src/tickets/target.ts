import { hashAuthority, hashOriginUrl, type OriginUrl, ok, type Result, refuse } from '@longhaul/shared';
import { sha256 } from '../identity.ts';
import type { OpenTicket } from './ticket-gate.ts';

/** What is fetched, and by whose leave. */
export interface Target {
  readonly ticket: OpenTicket;
  readonly url: OriginUrl;
}

/** Whether a ticket was given for this URL. */
export function checkTarget(target: Target): Result<Target> {
  const { ticket, url } = target;
  const { authorityHash, urlHash } = ticket.claims;
  if (authorityHash !== hashAuthority(url.host, url.port, sha256)) return refuse('ticket-wrong-authority');
  return urlHash === hashOriginUrl(url, sha256) ? ok(target) : refuse('ticket-wrong-url');
}
