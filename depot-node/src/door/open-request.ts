import type { IncomingMessage } from 'node:http';
import {
  isRelayTarget,
  ok,
  parseRelayTarget,
  type RelayRequest,
  type Result,
  refuse,
} from '@longhaul/shared';
import type { OpenTicket, TicketGate } from '../tickets/ticket-gate.ts';

/** A relay request whose ticket has been verified. */
export interface OpenedRequest {
  readonly ticket: OpenTicket;
  readonly asked: RelayRequest;
}

/** Reads a relay request and verifies its ticket. Nothing has been checked yet of what the ticket permits. */
export async function openRequest(
  gate: TicketGate,
  request: IncomingMessage,
): Promise<Result<OpenedRequest>> {
  const target = request.url ?? '';
  if (!isRelayTarget(target)) return refuse('not-a-relay-request');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse('method-not-allowed');
  if (request.headers['service-worker'] !== undefined) return refuse('worker-script-refused');
  const asked = parseRelayTarget(target);
  if (!asked.ok) return asked;
  const ticket = await gate.open(asked.value.ticket, request.socket.remoteAddress);
  if (!ticket.ok) return ticket;
  if (ticket.value.claims.kind === 'tunnel') return refuse('ticket-wrong-kind');
  return ok({ ticket: ticket.value, asked: asked.value });
}
