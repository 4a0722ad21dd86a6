import type { IncomingMessage } from 'node:http';
import {
  type DepotRelayRequest,
  isEntryDepot,
  isRelayTarget,
  type OriginRelayRequest,
  ok,
  parseRelayTarget,
  type Result,
  refuse,
} from '@longhaul/shared';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { checkTarget } from './check-target.ts';
import type { OpenTicket } from './target.ts';

interface OpenRequestComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
}

/** A request that is for the entry depot: its URL is known, or is told by the depot that holds the file. */
export interface OpenedRequest {
  readonly ticket: OpenTicket;
  readonly asked: OriginRelayRequest | DepotRelayRequest;
}

/** Reads a relay request and checks everything that can be checked before anything is dialled. */
export async function openRequest(
  { ownId, gate }: OpenRequestComponents,
  request: IncomingMessage,
): Promise<Result<OpenedRequest>> {
  const text = request.url ?? '';
  if (!isRelayTarget(text)) return refuse('not-a-relay-request');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse('method-not-allowed');
  if (request.headers['service-worker'] !== undefined) return refuse('worker-script-refused');
  const parsed = parseRelayTarget(text);
  if (!parsed.ok) return parsed;
  const opened = await gate.open(parsed.value.ticket, request.socket);
  if (!opened.ok) return opened;
  const claims = opened.value;
  const ticket = { text: parsed.value.ticket, claims };
  const asked = parsed.value;
  if (claims.kind === 'tunnel') return refuse('ticket-wrong-kind');
  if (!isEntryDepot(claims, ownId)) return refuse('ticket-wrong-depot');
  if (asked.from === 'origin') {
    const checked = checkTarget({ ticket, url: asked.url });
    return checked.ok ? ok({ ticket, asked }) : checked;
  }
  if (asked.from === 'successor' || claims.kind !== 'stepwise') return refuse('ticket-wrong-kind');
  return ok({ ticket, asked });
}
