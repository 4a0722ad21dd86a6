import type { Duplex } from 'node:stream';
import {
  type Authority,
  type ErrorCode,
  isSameChain,
  isWayFailure,
  LonghaulError,
  mostTelling,
  type OriginPlace,
  type OriginUrl,
  originHref,
  resolveLocation,
  type TicketClaims,
} from '@longhaul/shared';
import { EarlyBytes } from '../legs/early-bytes.ts';
import type { ChainTarget, OpenNextLeg } from '../legs/next-leg.ts';
import { isHiddenName } from '../names/hidden-name.ts';
import { isChallenge } from '../origin/challenge.ts';
import type { AskedTimes, OriginRequest } from '../origin/conversation.ts';
import { busyOrigin } from '../origin/joined-part.ts';
import { type OriginAnswer, OriginConnection } from '../origin/origin-connection.ts';
import { type AnswerHead, asAsked, endsWithConnection, readPart } from '../origin/representation.ts';
import { StillAtWork } from '../origin/still-at-work.ts';
import type { UnframedBook } from '../origin/unframed-book.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import { tryInTurn } from '../racing/try-in-turn.ts';
import { beginHandshake, secure } from '../sockets/secure.ts';
import type { Trust } from '../sockets/trust.ts';
import type { Target } from '../tickets/target.ts';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { type PreparedWay, type PreparedWayEnd, PreparedWays } from './prepared-ways.ts';
import { exitOf, type Route, RouteBook } from './route-book.ts';

/** Redirects of the origin that are followed for one request. */
const MAX_REDIRECTS = 20;

/** What names another address, as clients follow it: 300 is of a server that knows several, and names the best. */
const FOLLOWED = new Set([300, 301, 302, 303, 307, 308]);

const TLS_CODES = {
  refused: 'origin-tls-failed',
  broken: 'origin-unreachable',
  timeout: 'origin-timeout',
} as const;

/** An answer with what led to it. */
export interface FetchedAnswer extends OriginAnswer {
  /** Where it came from, after redirects, and by whose leave. */
  readonly target: Target;
  readonly route: Route;
}

/** One that this depot has asked for itself. */
export interface TimedAnswer extends FetchedAnswer, AskedTimes {}

/** Builds the origin request for a URL: its Host header follows the redirects. */
export type RequestFor = (url: OriginUrl) => OriginRequest;

/** Gets a ticket for another URL of the same download from the master, by chains that avoid depots, and verifies it. */
export type FollowUp = (ticket: OpenTicket, url: OriginUrl, avoid?: readonly string[]) => Promise<OpenTicket>;

interface FetcherInit {
  readonly plane: DataPlane;
  readonly openNextLeg: OpenNextLeg;
  readonly trust: Trust;
  readonly followUp: FollowUp;
  readonly unframedBook: UnframedBook;
  /** How long a chain may take to stand before the next one is tried beside it. */
  readonly patienceMs: number;
  /** Ways that are made at once for clients that are about to come. */
  readonly preparedWays: number;
  readonly onPreparedWay: (end: PreparedWayEnd) => void;
}

/** Fetches from origins over the routes of a download. */
export class Fetcher {
  readonly #init: FetcherInit;
  readonly #ways: PreparedWays;

  constructor(init: FetcherInit) {
    this.#init = init;
    this.#ways = new PreparedWays({
      open: (...way) => this.#openWay(...way),
      nowMs: init.plane.steadyMs,
      most: init.preparedWays,
      onEnd: init.onPreparedWay,
    });
  }

  get patienceMs(): number {
    return this.#init.patienceMs;
  }

  get followUp(): FollowUp {
    return this.#init.followUp;
  }

  /**
   * Opens a stream to the origin of a URL and sends these bytes. What the origin is told first goes along
   * while the chain is built: over http these bytes, over https the beginning of the handshake. Rejects with
   * a `LonghaulError`.
   */
  async openStream(
    over: ChainTarget,
    origin: OriginPlace,
    firstBytes: Buffer,
    signal: AbortSignal,
  ): Promise<Duplex> {
    const stream = await this.#openWay(over, origin, new EarlyBytes(firstBytes), signal);
    if (origin.scheme === 'https') stream.write(firstBytes);
    return stream;
  }

  /**
   * Makes the way of a ticket's plan to its origin, for a client that is about to come: the first that is
   * asked of that origin over that chain goes over it.
   */
  prepare(ticket: OpenTicket, origin: OriginPlace, client: string): void {
    const { chain, chainIndex } = new RouteBook(this.#init.plane.ownId, ticket).plan;
    const authority: Authority = { host: origin.host, port: origin.port };
    this.#ways.prepare({ ticket: ticket.text, chainIndex, chain, authority, client }, origin);
  }

  /** Ends the ways that wait for a client. */
  close(): void {
    this.#ways.close();
  }

  #openWay(
    over: ChainTarget,
    { scheme, host }: OriginPlace,
    early: EarlyBytes,
    signal: AbortSignal,
  ): Promise<Duplex> {
    return scheme === 'http'
      ? this.#init.openNextLeg(over, 0, signal, early)
      : this.#openSecured(over, host, signal);
  }

  async #openSecured(over: ChainTarget, host: string, signal: AbortSignal): Promise<Duplex> {
    const { openNextLeg, trust } = this.#init;
    // Nothing can go along with a connection of its own, and TLS right over one costs less than over a stream
    // of Node's.
    if (over.chain.length === 1)
      return secure(await openNextLeg(over, 0, signal), host, trust, TLS_CODES, signal);
    const handshake = beginHandshake(host, trust, TLS_CODES, signal);
    try {
      const early = new EarlyBytes(await handshake.firstFlight);
      return await handshake.finish(await openNextLeg(over, 0, signal, early));
    } catch (failure) {
      handshake.abandon();
      throw failure;
    }
  }

  /** What the next depots are told of a route to a target; see `chainTargetOf`. */
  chainTarget(route: Route, target: Target): ChainTarget {
    return chainTargetOf(route, target, this.#init.plane.ownId);
  }

  /**
   * Asks the origin of a URL over exactly this chain, and follows no redirect; over the way that was made for
   * it, where there is one. Rejects with a `LonghaulError`, a {@link StaleWay} where that way alone has
   * failed.
   */
  async ask(
    over: ChainTarget,
    url: OriginUrl,
    asked: OriginRequest,
    signal: AbortSignal,
    onStands: () => void = () => undefined,
  ): Promise<OriginAnswer & AskedTimes> {
    const { steadyMs, timeouts } = this.#init.plane;
    let prepared: PreparedWay | undefined;
    const connection = new OriginConnection((firstBytes, own) => {
      prepared = this.#ways.take(over, url);
      return prepared ? prepared.use(firstBytes, own) : this.openStream(over, url, firstBytes, own);
    });
    const beganAtMs = steadyMs();
    let askedAtMs = beganAtMs;
    let stoodAtMs = beganAtMs;
    let hasStood = false;
    connection.stands.then(
      () => {
        hasStood = true;
        stoodAtMs = steadyMs();
        // Over http the question went along.
        if (url.scheme === 'https') askedAtMs = steadyMs();
        onStands();
      },
      () => undefined,
    );
    const answer = connection.ask(asked, { answerMs: timeouts.answerMs, signal });
    const given = await answer.catch((failure: unknown) => {
      if (prepared && !signal.aborted && mayBeStale(failure)) throw new StaleWay(failure);
      throw hasStood && isOwn(failure) && failure.code === 'origin-timeout'
        ? new SilentOrigin(failure)
        : failure;
    });
    if (prepared && given.statusCode === REQUEST_TIMEOUT) {
      connection.reset();
      throw new StaleWay(undefined);
    }
    const head = asAsked(given, asked.headers['range']);
    const openedAtMs = prepared?.openedAtMs(askedAtMs) ?? beganAtMs;
    return { head, connection, openedAtMs, askedAtMs, stoodAtMs, answeredAtMs: steadyMs() };
  }

  /**
   * The first answer of a download, when nothing has reached the client yet: over the routes of its book, one
   * after the other. A refusal is taken only where none that was asked for beside it is the file: a link may
   * be good for one request. An origin that is busy counts questions by the address that they come from: it
   * is asked once over each other exit, but not for a client that `mayAskItself`. Where one stands, and the
   * origin does not answer over it, others are not tried for a client that `mayAskItself`: it would wait as
   * long for each. A body that ends with its connection comes over this depot alone: at once, where it is
   * known, and not at all where its end cannot be told from a cut. Rejects with a `LonghaulError`.
   */
  async firstAnswer(
    book: RouteBook,
    target: Target,
    requestFor: RequestFor,
    signal: AbortSignal,
    mayAskItself = false,
  ): Promise<TimedAnswer> {
    const { unframedBook } = this.#init;
    const { client, url } = target;
    const failures: LonghaulError[] = [];
    const busyExits = new Set<string | undefined>();
    const routes = book.routes();
    const { method } = requestFor(url);
    const isUnframed = method === 'GET' && unframedBook.isUnframed(url, client);
    if (isUnframed) routes.sort((one, other) => rankAlone(one) - rankAlone(other));
    const choices = inOrder(routes, (route) => !busyExits.has(exitOf(route)));
    const fetched = await tryInTurn(choices, {
      attempt: (route, own, onStands) => this.overRoute(route, target, requestFor, own, onStands),
      patienceMs: this.#init.patienceMs,
      signal,
      // A new way over the same route may do.
      isOfTry: (failure, route) => failure instanceof StaleWay && !busyExits.has(exitOf(route)),
      isFinal: (failure, route) => {
        signal.throwIfAborted();
        if (!isWayFailure(failure) && !isHiddenName(failure)) return true;
        failures.push(failure);
        this.noteFailure(book, route, failure);
        // Who thinks for so long does not think faster for the next who asks.
        return mayAskItself && failure instanceof SilentOrigin;
      },
      onOvertaken: ({ chain }) => book.noteFailure(chain),
      // What other addresses get may be a file.
      isPoor: ({ head }) => isChallenge(head) || head.statusCode >= 400,
      isOfChoice: ({ head }, route) => {
        if (mayAskItself || !busyOrigin(head)) return false;
        book.noteFailure(route.chain);
        busyExits.add(exitOf(route));
        return true;
      },
      discard: ({ connection }) => connection.reset(),
    }).catch((failure: unknown) => {
      signal.throwIfAborted();
      const isTold = failure instanceof LonghaulError;
      if (!isTold) throw failure;
      const all = [...failures, failure];
      // What another depot says of the name is not all that a client could hear, but what an origin says is.
      const isOfName = isWayFailure(failure) || isHiddenName(failure);
      throw (isOfName ? all.find(isHiddenName) : undefined) ?? mostTelling(all);
    });
    const endsSo = ({ head }: TimedAnswer) => endsWithConnection(head, method);
    const saysNoGoodbye = ({ head, target: { url: last } }: TimedAnswer) =>
      last.scheme === 'https' && readPart(head) === undefined && unframedBook.endsWithoutGoodbye(url, client);
    const withSureEnd = (answer: TimedAnswer): TimedAnswer => {
      if (!endsSo(answer) || (answer.connection.tellsCuts && !saysNoGoodbye(answer))) return answer;
      answer.connection.reset();
      throw new LonghaulError('origin-end-unsure');
    };
    const isAlone = fetched.route.chain.length === 1;
    if (isAlone && isUnframed && gives(fetched)) unframedBook.note(url, client, endsSo(fetched));
    if (isAlone || !book.alone || !endsSo(fetched)) return withSureEnd(fetched);
    fetched.connection.reset();
    const again = await this.overRoute(book.alone, target, requestFor, signal);
    if (gives(again)) unframedBook.note(url, client, endsSo(again));
    return withSureEnd(again);
  }

  /**
   * Asks for a target over one route, and follows the origin's redirects as long as none comes twice. Rejects with a
   * `LonghaulError`. The route's ticket may be another one than the target's, as long as both are of one download.
   */
  async overRoute(
    route: Route,
    target: Target,
    requestFor: RequestFor,
    signal: AbortSignal,
    onStands: () => void = () => undefined,
  ): Promise<TimedAnswer> {
    let { ticket, url } = target;
    const steps = new Set<string>();
    for (;;) {
      const now = { ...target, ticket, url };
      const over = this.chainTarget(route, now);
      const answer = await this.ask(over, url, requestFor(url), signal, onStands);
      const { head, connection } = answer;
      if (!isRedirect(head)) return { ...answer, target: now, route: { ...route, chain: over.chain } };
      connection.reset();
      const next = redirectTarget(head, url);
      const step = `${originHref(url)} ${originHref(next)}`;
      // Without the cookie that came with it, the same step only leads round again; who names mirrors by
      // turns may name another one.
      if (steps.size >= MAX_REDIRECTS || steps.has(step)) throw new LonghaulError('redirect-limit');
      steps.add(step);
      if (url.scheme === 'https' && next.scheme === 'http') throw new LonghaulError('redirect-downgrade');
      const isElsewhere = next.host !== url.host || next.port !== url.port;
      if (isElsewhere) ticket = await this.#init.followUp(ticket, next);
      url = next;
    }
  }

  /** Takes note of a route that failed, and tells of the depot on it that failed, where one is named. */
  noteFailure(book: RouteBook, route: Route, failure: LonghaulError): void {
    book.noteFailure(route.chain, failure.depot);
    if (failure.depot !== undefined) this.#tell(route.ticket.claims, failure.code, failure.depot);
  }

  #tell({ jobId }: TicketClaims, code: ErrorCode, depot: string): void {
    this.#init.plane.observe({ type: 'chain-failed', jobId, code, depot });
  }
}

/**
 * What the next depots are told of a route to a target. The route's own ticket is shown as long as the origin
 * is the same; elsewhere the target's is, over the same chain if it has it, else over this depot alone, which
 * every ticket permits.
 */
function chainTargetOf(route: Route, { ticket, url, client }: Target, ownId: string): ChainTarget {
  const authority: Authority = { host: url.host, port: url.port };
  if (route.ticket.claims.authorityHash === ticket.claims.authorityHash)
    return { ticket: route.ticket.text, chainIndex: route.chainIndex, chain: route.chain, authority, client };
  const { chains } = ticket.claims;
  const found = chains.findIndex((chain) => isSameChain(chain, route.chain));
  const [chainIndex, chain] = found < 0 ? [chains.length, [ownId]] : [found, route.chain];
  return { ticket: ticket.text, chainIndex, chain, authority, client };
}

/** A way that was made ahead was of no use when it was needed. */
class StaleWay extends LonghaulError {
  constructor(cause: unknown) {
    super('origin-unreachable', { cause });
  }
}

/** An origin took a question and did not answer it in time. */
class SilentOrigin extends LonghaulError {
  constructor(cause: unknown) {
    super('origin-timeout', { cause });
  }
}

/** What an origin says to a connection that has said nothing for too long. */
const REQUEST_TIMEOUT = 408;

/**
 * Whether a way may have failed because it was made before it was needed: no depot has said otherwise, nobody
 * has waited long, and nothing has come over it.
 */
function mayBeStale(failure: unknown): boolean {
  return isOwn(failure) && failure.code !== 'origin-timeout' && !(failure instanceof StillAtWork);
}

/** Whether a failure was met here, and is none that another depot tells of. */
function isOwn(failure: unknown): failure is LonghaulError {
  return failure instanceof LonghaulError && failure.depot === undefined;
}

/** Whether an answer is a file, or a part of one. */
function gives({ head }: TimedAnswer): boolean {
  return head.statusCode === 200 || head.statusCode === 206;
}

/** Sorts this depot alone before all others. */
function rankAlone({ chain }: Route): number {
  return chain.length === 1 ? 0 : 1;
}

/** One after the other, but for those that are not wanted by then. */
function* inOrder<T>(list: readonly T[], isWanted: (one: T) => boolean): Generator<T> {
  for (const one of list) if (isWanted(one)) yield one;
}

/**
 * Whether an origin's answer sends the asker elsewhere. None of these is the file, and clients might take
 * what they cannot follow for that.
 */
export function isRedirect({ statusCode }: Pick<AnswerHead, 'statusCode'>): boolean {
  return statusCode >= 300 && statusCode < 400 && statusCode !== 304;
}

function redirectTarget({ statusCode, headers: { location } }: AnswerHead, base: OriginUrl): OriginUrl {
  if (location === undefined || !FOLLOWED.has(statusCode))
    throw new LonghaulError('redirect-bad-target', { detail: `it answered ${statusCode}` });
  const target = resolveLocation(base, location);
  if (target.ok) return target.value;
  throw new LonghaulError('redirect-bad-target', { cause: target.error });
}
