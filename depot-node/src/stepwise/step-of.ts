import {
  type DepotRelayRequest,
  type HandoverRequest,
  type OriginRelayRequest,
  ok,
  type RelayRequest,
  type Result,
  refuse,
  type TicketClaims,
} from '@longhaul/shared';

/** The part of a depot in stepwise signalling, which a request asks it to play. */
export type Step =
  /** The exit depot: fetch at once, and send the client on. */
  | { readonly role: 'exit'; readonly place: number; readonly asked: OriginRelayRequest }
  /** A depot between: ask the predecessor, and send the client on. */
  | { readonly role: 'middle'; readonly place: number; readonly asked: DepotRelayRequest }
  /** Whoever holds something: hand it over to the successor. */
  | { readonly role: 'giver'; readonly place: number; readonly asked: HandoverRequest };

/**
 * What a request with a stepwise ticket asks of this depot, by its place in the plan's chain; `undefined` where it is
 * for the entry depot. Alternatives are for cascade alone.
 */
export function stepOf(claims: TicketClaims, ownId: string, asked: RelayRequest): Result<Step | undefined> {
  const chain = claims.chains[0] ?? [];
  const place = chain.indexOf(ownId);
  const isLast = place === chain.length - 1;
  if (asked.from === 'origin') return ok(isLast && place > 0 ? { role: 'exit', place, asked } : undefined);
  if (place < 0) return refuse('ticket-wrong-depot');
  if (asked.from === 'successor')
    return place > 0 ? ok({ role: 'giver', place, asked }) : refuse('ticket-wrong-depot');
  if (isLast) return refuse('ticket-wrong-depot');
  if (asked.depot !== chain[place + 1])
    return refuse('parameters-disagree', 'depot= is not the predecessor in the ticket');
  return ok(place > 0 ? { role: 'middle', place, asked } : undefined);
}
