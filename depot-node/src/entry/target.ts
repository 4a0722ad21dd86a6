import type { OriginUrl, TicketClaims } from '@longhaul/shared';

/** A verified ticket with its text, which the next depots want to see themselves. */
export interface OpenTicket {
  readonly text: string;
  readonly claims: TicketClaims;
}

/** What is fetched, and by whose leave. */
export interface Target {
  readonly ticket: OpenTicket;
  readonly url: OriginUrl;
}
