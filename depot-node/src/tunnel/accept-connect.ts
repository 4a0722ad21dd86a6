import type { IncomingMessage } from 'node:http';
import {
  type Chain,
  chainsForEntry,
  clientPrefix,
  type ErrorCode,
  HEADERS,
  hashAuthority,
  introductionPort,
  isIntroductionPort,
  MAX_ALTERNATIVES,
  ok,
  parseConnectTarget,
  type Result,
  refuse,
  type TicketClaims,
} from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import { type Arrival, arrivalOf } from '../jobs/arrival.ts';
import type { JobTable } from '../jobs/job-table.ts';
import type { ProofChecker } from '../legs/caller-proof.ts';
import type { ChainTarget } from '../legs/next-leg.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';

export interface AcceptComponents {
  readonly plane: DataPlane;
  readonly gate: TicketGate;
  readonly proofs: ProofChecker;
  readonly jobs: Pick<JobTable, 'untimely' | 'admit'>;
  /** Asks the master for a fresh directory when `depot` is not in it; does nothing if that happened lately. */
  readonly ensureKnown: (depot: string) => Promise<void>;
}

export interface AcceptedConnect {
  readonly claims: TicketClaims;
  /** The chains that may be taken, best first; a depot has but the one it is told. */
  readonly targets: readonly ChainTarget[];
  /** 0 for a client. */
  readonly place: number;
}

/** Reads a `CONNECT` and checks everything that can be checked before anything is dialled. */
export async function acceptConnect(
  { plane: { ownId }, gate, proofs, jobs, ensureKnown }: AcceptComponents,
  request: IncomingMessage,
): Promise<Result<AcceptedConnect>> {
  const authority = parseConnectTarget(request.url ?? '');
  if (!authority.ok) return authority;
  const proof = request.headers[HEADERS.proof];
  const ticket = proof === undefined ? clientTicket(request) : request.headers[HEADERS.ticket];
  if (typeof ticket !== 'string') return refuse('ticket-missing');
  const isToKnow = proof === undefined && isIntroductionPort(authority.value.port);
  const opened = await gate.open(ticket, request.socket.remoteAddress);
  // What the browser has kept may be signed by a key of long ago.
  if (!opened.ok) return isToKnow ? refuse('ticket-other-wanted') : opened;
  const { claims } = opened.value;
  // A client whose ticket is over is to send another one, whatever it asks for.
  const untimely = proof === undefined ? jobs.untimely(claims, arrivalOf(request)) : undefined;
  if (untimely) return refuse(untimely);
  const { host, port } = authority.value;
  const isAsked = claims.authorityHash === hashAuthority(host, port, sha256);
  if (isToKnow && !isAsked) return refuse(knowTicket(claims, port, ownId, jobs, arrivalOf(request)));
  if (!isAsked) return refuse('ticket-wrong-authority');
  if (proof === undefined) {
    if (claims.kind !== 'tunnel') return refuse('ticket-wrong-kind');
    const targets = chainsForEntry(claims, ownId).map((chain) => ({
      ...chain,
      ticket,
      authority: authority.value,
      client: clientPrefix(request.socket.remoteAddress ?? ''),
    }));
    return targets.length > 0 ? ok({ claims, place: 0, targets }) : refuse('ticket-wrong-depot');
  }
  const chainIndex = readChainIndex(request);
  const chain: Chain | undefined = chainIndex === undefined ? undefined : claims.chains[chainIndex];
  const place = chain?.indexOf(ownId) ?? -1;
  if (chainIndex === undefined || !chain || place < 1) return refuse('ticket-wrong-depot');
  await ensureKnown(chain[place - 1] ?? '');
  const shown = { text: String(proof), from: request.socket.remoteAddress ?? '' };
  const proved = proofs.check(shown, ticket, chainIndex, chain, place);
  if (!proved.ok) return proved;
  return ok({ claims, place, targets: [{ ticket, chainIndex, chain, authority: authority.value }] });
}

/**
 * Answers a browser that is to know a ticket from now on, before it needs it. Where it shows another one it
 * is asked for that, and where the ticket is good for a tunnel here the tunnel counts as begun, as by a first
 * connection. Nothing is dialled.
 */
function knowTicket(
  claims: TicketClaims,
  port: number,
  ownId: string,
  jobs: Pick<JobTable, 'admit'>,
  arrival: Arrival,
): ErrorCode {
  const isWanted = introductionPort(claims.jobId) === port;
  const isForHere = claims.kind === 'tunnel' && chainsForEntry(claims, ownId).length > 0;
  const admitted = isWanted && isForHere ? jobs.admit(claims, arrival) : undefined;
  if (!admitted?.ok) return 'ticket-other-wanted';
  admitted.value.release();
  return 'ticket-wrong-authority';
}

/** A client's ticket: `Proxy-Authorization: Longhaul <ticket>`, or Basic with the ticket as password. */
function clientTicket(request: IncomingMessage): string | undefined {
  const [scheme = '', value = ''] = (request.headers['proxy-authorization'] ?? '').split(' ', 2);
  if (scheme.toLowerCase() === 'longhaul') return value;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const credentials = Buffer.from(value, 'base64').toString('latin1');
  return credentials.slice(credentials.indexOf(':') + 1);
}

function readChainIndex(request: IncomingMessage): number | undefined {
  const text = request.headers[HEADERS.chain];
  if (typeof text !== 'string' || !/^[0-9]$/.test(text)) return undefined;
  return Number(text) <= MAX_ALTERNATIVES ? Number(text) : undefined;
}
