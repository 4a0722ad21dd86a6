import type { IncomingMessage } from 'node:http';
import {
  type Authority,
  type Chain,
  chainForEntry,
  LonghaulError,
  type OriginUrl,
  resolveLocation,
  type TicketClaims,
} from '@longhaul/shared';
import { resetConnection } from '../sockets/reset.ts';
import { CHAIN_FAILURES } from '../tunnel/chain-failures.ts';
import type { Route } from '../tunnel/next-leg.ts';
import { endsWithConnection, type OriginAnswer, type OriginRequest } from './origin-exchange.ts';
import type { OpenTicket } from './target.ts';

/** Redirects of the origin that are followed for one request. */
const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface FetchedAnswer extends OriginAnswer {
  /** Where the answer came from, after redirects. */
  readonly url: OriginUrl;
  /** The depots that carried it, this one first. */
  readonly chain: Chain;
}

interface OriginFetchComponents {
  readonly ownId: string;
  readonly ask: (route: Route, asked: OriginRequest, signal: AbortSignal) => Promise<OriginAnswer>;
  /** Gets a ticket for a redirect's target from the master and verifies it. */
  readonly followUp: (ticket: OpenTicket, url: OriginUrl) => Promise<OpenTicket>;
  readonly onChainFailed: (claims: TicketClaims, failure: LonghaulError) => void;
}

/** Builds the origin request for a URL: its Host header follows the redirects. */
export type RequestFor = (url: OriginUrl) => OriginRequest;

/**
 * Fetches an origin URL over the ticket's plan, then its alternatives, then from this depot alone, and follows the
 * origin's redirects. Nothing has reached the client yet, so every chain may be tried.
 */
export async function fetchFromOrigin(
  components: OriginFetchComponents,
  first: OpenTicket,
  firstUrl: OriginUrl,
  requestFor: RequestFor,
  signal: AbortSignal,
): Promise<FetchedAnswer> {
  let ticket = first;
  let url = firstUrl;
  let startIndex = 0;
  let redirects = 0;
  for (;;) {
    const asked = requestFor(url);
    const { route, ...fetched } = await askOverChains(components, ticket, asked, startIndex, signal);
    const { answer } = fetched;
    const target = redirectTarget(answer, url);
    if (!target && route.chain.length > 1 && endsWithConnection(answer, asked.method)) {
      abandon(answer);
      startIndex = ticket.claims.chains.length;
      continue;
    }
    if (!target) return { ...fetched, url, chain: route.chain };
    abandon(answer);
    if (redirects === MAX_REDIRECTS) throw new LonghaulError('redirect-limit');
    if (url.scheme === 'https' && target.scheme === 'http') throw new LonghaulError('redirect-downgrade');
    const isElsewhere = target.host !== url.host || target.port !== url.port;
    if (isElsewhere) ticket = await components.followUp(ticket, target);
    redirects += 1;
    url = target;
    startIndex = route.chainIndex;
  }
}

async function askOverChains(
  { ownId, ask, onChainFailed }: OriginFetchComponents,
  ticket: OpenTicket,
  asked: OriginRequest,
  startIndex: number,
  signal: AbortSignal,
): Promise<OriginAnswer & { route: Route }> {
  const { claims } = ticket;
  const authority: Authority = { host: asked.url.host, port: asked.url.port };
  let failure = new LonghaulError('next-depot-unknown');
  for (let chainIndex = startIndex; chainIndex <= claims.chains.length; chainIndex += 1) {
    const chain = chainForEntry(claims, chainIndex, ownId);
    if (!chain) continue;
    const route = { ticket: ticket.text, chainIndex, chain, authority };
    try {
      return { ...(await ask(route, asked, signal)), route };
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof LonghaulError) || !CHAIN_FAILURES.has(thrown.code)) throw thrown;
      failure = thrown;
      onChainFailed(claims, thrown);
    }
  }
  throw failure;
}

function redirectTarget(answer: IncomingMessage, base: OriginUrl): OriginUrl | undefined {
  const { location } = answer.headers;
  if (!REDIRECTS.has(answer.statusCode ?? 0)) return undefined;
  const target = resolveLocation(base, location ?? '');
  if (location !== undefined && target.ok) return target.value;
  abandon(answer);
  throw new LonghaulError('redirect-bad-target', target.ok ? {} : { cause: target.error });
}

/** Gives up an answer whose body nobody wants, with its whole chain. */
export function abandon(answer: IncomingMessage): void {
  resetConnection(answer.socket);
}
