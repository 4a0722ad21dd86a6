import {
  type Authority,
  hashAuthority,
  hashOriginUrl,
  type OriginUrl,
  ok,
  type Result,
  refuse,
  type TicketClaims,
} from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import type { OpenTicket } from './ticket-gate.ts';

/** What is fetched, by whose leave, and for whom. */
export interface Target {
  readonly ticket: OpenTicket;
  readonly url: OriginUrl;
  /** The network of the client that it is for. */
  readonly client: string;
}

/** Whether a ticket was given for a file of this origin. */
export function isForOrigin({ authorityHash }: TicketClaims, { host, port }: Authority): boolean {
  return authorityHash === hashAuthority(host, port, sha256);
}

/** Whether a ticket was given for this URL. */
export function checkTarget({ ticket, url }: Pick<Target, 'ticket' | 'url'>): Result<OriginUrl> {
  const { claims } = ticket;
  if (!isForOrigin(claims, url)) return refuse('ticket-wrong-authority');
  return claims.urlHash === hashOriginUrl(url, sha256) ? ok(url) : refuse('ticket-wrong-url');
}
