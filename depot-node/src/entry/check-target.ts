import { hashAuthority, hashOriginUrl, ok, type Result, refuse } from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import type { Target } from './target.ts';

/** Whether a ticket was given for this URL. */
export function checkTarget(target: Target): Result<Target> {
  const { ticket, url } = target;
  const { authorityHash, urlHash } = ticket.claims;
  if (authorityHash !== hashAuthority(url.host, url.port, sha256)) return refuse('ticket-wrong-authority');
  return urlHash === hashOriginUrl(url, sha256) ? ok(target) : refuse('ticket-wrong-url');
}
