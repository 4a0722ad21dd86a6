import { type Chain, type ChainPromise, chainKey, chainsForEntry, isSameChain } from '@longhaul/shared';
import type { OpenTicket } from '../tickets/ticket-gate.ts';

/** A way that a download may take: a chain, by the ticket that permits it. */
export interface Route {
  readonly ticket: OpenTicket;
  readonly chainIndex: number;
  /** This depot first. */
  readonly chain: Chain;
  /** What the planner promises of it; `undefined` for this depot alone where no plan names that. */
  readonly promise: ChainPromise | undefined;
}

/** The depots between this one and the origin. */
export function depotsBehind({ chain }: Pick<Route, 'chain'>): readonly string[] {
  return chain.slice(1);
}

/** The depot whose address an origin sees. */
export function exitOf({ chain }: Pick<Route, 'chain'>): string | undefined {
  return chain.at(-1);
}

/** Knows the routes of one download from this depot on, and how each has done so far. */
export class RouteBook {
  readonly #ownId: string;
  readonly #routes: Route[] = [];
  readonly #failuresOfChain = new Map<string, number>();
  readonly #failuresOfDepot = new Map<string, number>();

  constructor(ownId: string, ticket: OpenTicket) {
    this.#ownId = ownId;
    this.add(ticket);
  }

  /** Takes in the chains of a ticket, the first one or that of a newer plan. */
  add(ticket: OpenTicket): void {
    for (const { chainIndex, chain } of chainsForEntry(ticket.claims, this.#ownId)) {
      if (this.#routes.some((route) => isSameChain(route.chain, chain))) continue;
      this.#routes.push({ ticket, chainIndex, chain, promise: ticket.claims.promises[chainIndex] });
    }
  }

  /** A book of the same routes that knows of no failures: for a server whose own failures are no fault of theirs. */
  anew(): RouteBook {
    const book = new RouteBook(this.#ownId, this.plan.ticket);
    for (const { ticket } of this.#routes) book.add(ticket);
    return book;
  }

  /**
   * All routes: those that failed least first, equals in the order of the plans. This depot alone is the last
   * of equals, unless a plan names it.
   */
  routes(): Route[] {
    const rank = (route: Route) => this.failures(route.chain) + (isReserve(route) ? 0.5 : 0);
    return this.#routes.toSorted((one, other) => rank(one) - rank(other));
  }

  /** The first ticket's plan; its first alternative that begins at this depot where the plan does not. */
  get plan(): Route {
    const [plan] = this.#routes;
    if (!plan) throw new Error('the ticket has no chain that begins here');
    return plan;
  }

  /** This depot alone. */
  get alone(): Route | undefined {
    return this.#routes.find(({ chain }) => chain.length === 1);
  }

  /** Notes that a chain failed; `depot` is the one that it failed at, where that is known. */
  noteFailure(chain: Chain, depot?: string): void {
    const key = chainKey(chain);
    this.#failuresOfChain.set(key, (this.#failuresOfChain.get(key) ?? 0) + 1);
    if (depot !== undefined && depot !== this.#ownId && chain.includes(depot))
      this.#failuresOfDepot.set(depot, (this.#failuresOfDepot.get(depot) ?? 0) + 1);
  }

  /** Whether any chain has failed so far. */
  get hasFailures(): boolean {
    return this.#failuresOfChain.size > 0;
  }

  /** A chain that was left has turned out better than the one that took its place. */
  forgive(chain: Chain): void {
    this.#failuresOfChain.delete(chainKey(chain));
  }

  /** How often a chain failed, or a chain through one of the depots that were found to have failed. */
  failures(chain: Chain): number {
    const ofDepots = chain.reduce((sum, id) => sum + (this.#failuresOfDepot.get(id) ?? 0), 0);
    return (this.#failuresOfChain.get(chainKey(chain)) ?? 0) + ofDepots;
  }

  /** The best rate promised of the routes beside a chain that have not failed; 0 when there is none. */
  bestOtherBps(chain: Chain): number {
    const others = this.#routes.filter(
      (other) => !isSameChain(other.chain, chain) && this.failures(other.chain) === 0,
    );
    return Math.max(0, ...others.map(({ promise }) => promise?.rateBps ?? 0));
  }

  /** The depots that a new plan had better avoid: all others of the chains that failed. */
  suspects(): string[] {
    const failed = this.#routes.filter(({ chain }) => this.failures(chain) > 0);
    return [...new Set(failed.flatMap(({ chain }) => chain))].filter((id) => id !== this.#ownId);
  }
}

/**
 * Whether a route is this depot alone although no plan names that: every ticket permits it, and nobody
 * promises anything of it.
 */
export function isReserve({ promise }: Route): boolean {
  return promise === undefined;
}
