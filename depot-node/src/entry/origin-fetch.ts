import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type Authority,
  LonghaulError,
  type OriginUrl,
  resolveLocation,
  type TicketClaims,
} from '@longhaul/shared';
import { tryInTurn } from '../racing/try-in-turn.ts';
import { resetConnection } from '../sockets/reset.ts';
import { CHAIN_FAILURES } from '../tunnel/chain-failures.ts';
import type { Route } from '../tunnel/next-leg.ts';
import { endsWithConnection, type OriginAnswer, type OriginRequest } from './origin-exchange.ts';
import type { Choice, RouteBook } from './route-book.ts';
import type { OpenTicket, Target } from './target.ts';

/** Redirects of the origin that are followed for one request. */
const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface FetchedAnswer extends OriginAnswer {
  /** Where the answer came from, after redirects, and by whose leave. */
  readonly target: Target;
  /** The way that it came. */
  readonly choice: Choice;
}

export interface OriginFetchComponents {
  readonly ownId: string;
  readonly ask: (
    route: Route,
    asked: OriginRequest,
    signal: AbortSignal,
    onStands: () => void,
  ) => Promise<OriginAnswer>;
  /** Opens a way of its own to the origin of a URL, and sends these bytes. */
  readonly openWay: (
    route: Route,
    url: OriginUrl,
    firstBytes: Buffer,
    signal: AbortSignal,
  ) => Promise<Duplex>;
  /** Gets a ticket for another URL of the same download from the master, by chains that avoid depots, and verifies it. */
  readonly followUp: (ticket: OpenTicket, url: OriginUrl, avoid?: readonly string[]) => Promise<OpenTicket>;
  readonly onChainFailed: (claims: TicketClaims, failure: LonghaulError) => void;
  /** How long a chain may take to stand before the next one is tried beside it. */
  readonly patienceMs: number;
}

/** The same for one client: names of origins are looked up in the room of its network. */
export function fetchForClient(fetch: OriginFetchComponents, client: string): OriginFetchComponents {
  return {
    ...fetch,
    ask: (route, ...rest) => fetch.ask({ ...route, client }, ...rest),
    openWay: (route, ...rest) => fetch.openWay({ ...route, client }, ...rest),
  };
}

/** Builds the origin request for a URL: its Host header follows the redirects. */
export type RequestFor = (url: OriginUrl) => OriginRequest;

/**
 * Fetches an origin URL over the ways of its book, one after the other, and follows the origin's redirects. For the
 * first answer of a transfer: nothing has reached the client yet. Rejects with a `LonghaulError`.
 */
export async function fetchFromOrigin(
  components: OriginFetchComponents,
  book: RouteBook,
  target: Target,
  requestFor: RequestFor,
  signal: AbortSignal,
): Promise<FetchedAnswer> {
  const fetched = await tryInTurn(book.choices(), {
    attempt: (choice, own, onStands) => fetchOverChain(components, choice, target, requestFor, own, onStands),
    patienceMs: components.patienceMs,
    signal,
    isFinal: (failure, choice) => {
      signal.throwIfAborted();
      const hasBroken = choice.chain.length > 1 && isBrokenWay(failure);
      if (!hasBroken && !isChainFailure(failure)) return true;
      book.noteFailure(choice.chain, failure.depot);
      if (!hasBroken) components.onChainFailed(choice.ticket.claims, failure);
      return false;
    },
    discard: ({ answer }) => abandon(answer),
  });
  const { answer, choice } = fetched;
  const { method } = requestFor(target.url);
  if (choice.chain.length === 1 || !book.alone || !endsWithConnection(answer, method)) return fetched;
  abandon(answer);
  return fetchOverChain(components, book.alone, target, requestFor, signal);
}

/** Whether a failure is the chain's rather than the origin's. */
export function isChainFailure(failure: unknown): failure is LonghaulError {
  return failure instanceof LonghaulError && CHAIN_FAILURES.has(failure.code);
}

/**
 * Whether a way broke after it stood, before the head of an answer: by a depot or by the origin, nobody knows. What a depot
 * says of the origin names that depot.
 */
function isBrokenWay(failure: unknown): failure is LonghaulError {
  return (
    failure instanceof LonghaulError && failure.code === 'origin-unreachable' && failure.depot === undefined
  );
}

/**
 * Fetches a target over one chain and follows the origin's redirects; rejects with a `LonghaulError`. The chain may be one
 * of another ticket of the same download, with which it is asked for as long as the origin is the same.
 */
export async function fetchOverChain(
  { ownId, ask, followUp }: OriginFetchComponents,
  choice: Choice,
  target: Target,
  requestFor: RequestFor,
  signal: AbortSignal,
  onStands: () => void = () => undefined,
): Promise<FetchedAnswer> {
  let { ticket, url } = target;
  for (let redirects = 0; ; redirects += 1) {
    const route = routeOf(choice, { ticket, url }, ownId);
    const fetched = await ask(route, requestFor(url), signal, onStands);
    const next = redirectTarget(fetched.answer, url);
    if (!next) return { ...fetched, target: { ticket, url }, choice: { ...choice, chain: route.chain } };
    abandon(fetched.answer);
    if (redirects === MAX_REDIRECTS) throw new LonghaulError('redirect-limit');
    if (url.scheme === 'https' && next.scheme === 'http') throw new LonghaulError('redirect-downgrade');
    const isElsewhere = next.host !== url.host || next.port !== url.port;
    if (isElsewhere) ticket = await followUp(ticket, next);
    url = next;
  }
}

/**
 * The route to a target by a chain, which may be one of another ticket of the same download: that is asked with as long as
 * the origin is the same. A ticket that does not have the chain has at least this depot alone.
 */
export function routeOf(choice: Choice, { ticket, url }: Target, ownId: string): Route {
  const authority: Authority = { host: url.host, port: url.port };
  if (choice.ticket.claims.authorityHash === ticket.claims.authorityHash)
    return { ticket: choice.ticket.text, chainIndex: choice.chainIndex, chain: choice.chain, authority };
  const { chains } = ticket.claims;
  const found = chains.findIndex((chain) => chain.join() === choice.chain.join());
  const [chainIndex, chain] = found < 0 ? [chains.length, [ownId]] : [found, choice.chain];
  return { ticket: ticket.text, chainIndex, chain, authority };
}

/** Whether an origin's answer sends the asker elsewhere. */
export function isRedirect({ statusCode = 0 }: IncomingMessage): boolean {
  return REDIRECTS.has(statusCode);
}

function redirectTarget(answer: IncomingMessage, base: OriginUrl): OriginUrl | undefined {
  const { location } = answer.headers;
  if (!isRedirect(answer)) return undefined;
  const target = resolveLocation(base, location ?? '');
  if (location !== undefined && target.ok) return target.value;
  abandon(answer);
  throw new LonghaulError('redirect-bad-target', target.ok ? {} : { cause: target.error });
}

/** Gives up an answer whose body nobody wants, with its whole chain. */
export function abandon(answer: IncomingMessage): void {
  resetConnection(answer.socket);
}
