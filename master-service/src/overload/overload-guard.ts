import { clientPrefix } from '@longhaul/shared';

/** Plans in one turn of the event loop that are no crowd: what holds it up is something else then, and without plans it would be as late. */
const FEW_PLANS = 32;
/** A turn that has planned for so long plans no more for the networks that ask most: who comes next waits as long. */
const CROWDED_MS = 40;
/** A turn that has planned for so long plans for nobody any more. Answers stay within a quarter of a second then, with thousands who ask. */
const FULL_MS = 100;
/** Who asks most is counted over so long. */
const WINDOW_MS = 1_000;
/** Client networks counted at once; further ones ask for little. */
const MOST_NETWORKS = 10_000;

interface OverloadGuardInit {
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Calls back when the event loop has done all that it had; left out, `setImmediate`. */
  readonly afterTurn?: (then: () => void) => void;
}

/**
 * Says when there is no time for plans: many are asked for in one turn of the event loop, and it has been at it for long. Then clients
 * are answered without one, which costs next to nothing. Networks that ask most meet that first: no one gets more plans than it
 * leaves to all others.
 */
export class OverloadGuard {
  readonly #steadyMs: () => number;
  readonly #afterTurn: (then: () => void) => void;
  /** When this turn took up its first plan; `undefined` where it has none. */
  #sinceMs: number | undefined;
  #plans = 0;
  #windowMs = Number.NEGATIVE_INFINITY;
  #ofNetworks = new Map<string, number>();
  #ofAll = 0;

  constructor({ steadyMs, afterTurn = (then) => void setImmediate(then) }: OverloadGuardInit) {
    this.#steadyMs = steadyMs;
    this.#afterTurn = afterTurn;
  }

  /** Whether a plan for this client is worth its time now; counts it then. */
  takePlan(address: string): boolean {
    const nowMs = this.#steadyMs();
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs;
      this.#afterTurn(() => {
        this.#sinceMs = undefined;
        this.#plans = 0;
      });
    }
    const network = clientPrefix(address);
    const busyMs = this.#plans < FEW_PLANS ? 0 : nowMs - this.#sinceMs;
    if (busyMs >= FULL_MS || (busyMs >= CROWDED_MS && this.#asksMost(network))) return false;
    this.#plans += 1;
    this.#count(network, nowMs);
    return true;
  }

  #asksMost(network: string): boolean {
    return (this.#ofNetworks.get(network) ?? 0) * 2 > this.#ofAll;
  }

  #count(network: string, nowMs: number): void {
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = nowMs;
      this.#ofNetworks = new Map();
      this.#ofAll = 0;
    }
    const before = this.#ofNetworks.get(network);
    if (before === undefined && this.#ofNetworks.size >= MOST_NETWORKS) return;
    this.#ofNetworks.set(network, (before ?? 0) + 1);
    this.#ofAll += 1;
  }
}
