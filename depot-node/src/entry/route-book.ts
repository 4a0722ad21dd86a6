import { type Chain, type ChainPromise, chainsForEntry } from '@longhaul/shared';
import type { OpenTicket } from './target.ts';

/** One way of a download: a chain of one of its tickets. */
export interface Choice {
  readonly ticket: OpenTicket;
  readonly chainIndex: number;
  /** This depot first. */
  readonly chain: Chain;
  /** What the plan promises of it; `undefined` for this depot alone where it is no plan's chain. */
  readonly promise: ChainPromise | undefined;
}

/** Knows the ways of one download from this depot on, and how each has done so far. */
export class RouteBook {
  readonly #ownId: string;
  readonly #choices: Choice[] = [];
  readonly #failuresOfChain = new Map<string, number>();
  readonly #failuresOfDepot = new Map<string, number>();

  constructor(ownId: string, ticket: OpenTicket) {
    this.#ownId = ownId;
    this.add(ticket);
  }

  /** Takes in the chains of a ticket, the first one or that of a newer plan. */
  add(ticket: OpenTicket): void {
    for (const { chainIndex, chain } of chainsForEntry(ticket.claims, this.#ownId)) {
      if (this.#choices.some((choice) => keyOf(choice.chain) === keyOf(chain))) continue;
      this.#choices.push({ ticket, chainIndex, chain, promise: ticket.claims.promises[chainIndex] });
    }
  }

  /**
   * All ways, those that failed least first, in the order of the plans; this depot alone is the last of equals, unless it
   * is what a plan names.
   */
  choices(): Choice[] {
    const rank = (choice: Choice) => this.failures(choice.chain) + (isReserve(choice) ? 0.5 : 0);
    return this.#choices.toSorted((one, other) => rank(one) - rank(other));
  }

  /** The first ticket's plan, or what comes next to it from this depot on. */
  get plan(): Choice {
    const [plan] = this.#choices;
    if (!plan) throw new Error('the ticket has no chain that begins here');
    return plan;
  }

  /** This depot alone. */
  get alone(): Choice | undefined {
    return this.#choices.find(({ chain }) => chain.length === 1);
  }

  /** Notes that a chain failed; `depot` is the one that it failed at, where that is known. */
  noteFailure(chain: Chain, depot?: string): void {
    const key = keyOf(chain);
    this.#failuresOfChain.set(key, (this.#failuresOfChain.get(key) ?? 0) + 1);
    if (depot !== undefined && depot !== this.#ownId && chain.includes(depot))
      this.#failuresOfDepot.set(depot, (this.#failuresOfDepot.get(depot) ?? 0) + 1);
  }

  /** How often a chain failed, or a chain through one of the depots that were found to have failed. */
  failures(chain: Chain): number {
    const ofDepots = chain.reduce((sum, id) => sum + (this.#failuresOfDepot.get(id) ?? 0), 0);
    return (this.#failuresOfChain.get(keyOf(chain)) ?? 0) + ofDepots;
  }

  /** The best rate promised of the ways beside a chain that have not failed; 0 when there is none. */
  bestOtherBps(chain: Chain): number {
    const others = this.#choices.filter(
      (other) => keyOf(other.chain) !== keyOf(chain) && this.failures(other.chain) === 0,
    );
    return Math.max(0, ...others.map(({ promise }) => promise?.rateBps ?? 0));
  }

  /** The depots that a new plan had better avoid: all others of the chains that failed. */
  suspects(): string[] {
    const failed = this.#choices.filter(({ chain }) => this.failures(chain) > 0);
    return [...new Set(failed.flatMap(({ chain }) => chain))].filter((id) => id !== this.#ownId);
  }
}

/** Whether a way is this depot alone without any plan that says so: open to it in any case, and promised by nobody. */
export function isReserve({ promise }: Choice): boolean {
  return promise === undefined;
}

function keyOf(chain: Chain): string {
  return chain.join('.');
}
