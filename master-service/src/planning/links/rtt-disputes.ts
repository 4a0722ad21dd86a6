/**
 * The two ends of a link see the same round trip; queues and the time between two looks at it make so much of
 * a difference at most.
 */
export const MOST_APART = 1.4;
/** One neighbour that says otherwise may be the one that lies, and two may be its friends. */
const LEAST_NEIGHBOURS = 3;

/**
 * Holds the round trips that depots tell against those that their neighbours tell of the same links. Who says
 * that he is clearly nearer than three of them say, and most, is not believed: a depot that seems near to
 * everybody would be led through by everybody. That a depot says that it is further is no matter: it only
 * leaves itself out, and its line may be full.
 */
export class RttDisputes {
  /** By depot, its neighbours whom both ends have told of: whether the depot says clearly less. */
  readonly #saysLess = new Map<string, Map<string, boolean>>();
  readonly #notBelieved = new Set<string>();

  isBelieved(depot: string): boolean {
    return !this.#notBelieved.has(depot);
  }

  /** What the two ends of a link say now; `undefined` where one of them says nothing any more. */
  note(one: string, other: string, said: { readonly oneMs: number; readonly otherMs: number } | undefined) {
    this.#keep(one, other, said && said.oneMs * MOST_APART < said.otherMs);
    this.#keep(other, one, said && said.otherMs * MOST_APART < said.oneMs);
  }

  #keep(depot: string, neighbour: string, saysLess: boolean | undefined): void {
    const neighbours = this.#saysLess.get(depot) ?? new Map<string, boolean>();
    if (neighbours.get(neighbour) === saysLess) return;
    if (saysLess === undefined) neighbours.delete(neighbour);
    else neighbours.set(neighbour, saysLess);
    if (neighbours.size > 0) this.#saysLess.set(depot, neighbours);
    else this.#saysLess.delete(depot);
    const disputed = [...neighbours.values()].filter(Boolean).length;
    if (disputed >= LEAST_NEIGHBOURS && 2 * disputed > neighbours.size) this.#notBelieved.add(depot);
    else this.#notBelieved.delete(depot);
  }
}
