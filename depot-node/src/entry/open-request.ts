import type { IncomingMessage } from 'node:http';
import {
  hashAuthority,
  hashOriginUrl,
  isEntryDepot,
  isRelayTarget,
  ok,
  parseRelayTarget,
  type Result,
  refuse,
} from '@longhaul/shared';
import { sha256 } from '../identity.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import type { Target } from './target.ts';

interface OpenRequestComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
}

/** Reads a relay request and checks everything that can be checked before anything is dialled. */
export async function openRequest(
  { ownId, gate }: OpenRequestComponents,
  request: IncomingMessage,
): Promise<Result<Target>> {
  const text = request.url ?? '';
  if (!isRelayTarget(text)) return refuse('not-a-relay-request');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse('method-not-allowed');
  if (request.headers['service-worker'] !== undefined) return refuse('worker-script-refused');
  const parsed = parseRelayTarget(text);
  if (!parsed.ok) return parsed;
  const opened = await gate.open(parsed.value.ticket, request.socket);
  if (!opened.ok) return opened;
  const claims = opened.value;
  if (claims.kind !== 'get') return refuse('ticket-wrong-kind');
  if (!isEntryDepot(claims, ownId)) return refuse('ticket-wrong-depot');
  if (parsed.value.from === 'depot')
    return refuse('ticket-wrong-kind', 'stepwise signalling is not served here');
  const { url } = parsed.value;
  if (claims.authorityHash !== hashAuthority(url.host, url.port, sha256))
    return refuse('ticket-wrong-authority');
  if (claims.urlHash !== hashOriginUrl(url, sha256)) return refuse('ticket-wrong-url');
  return ok({ ticket: { text: parsed.value.ticket, claims }, url });
}
