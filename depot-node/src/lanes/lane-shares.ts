import type { Lane } from './lane.ts';
import type { LaneGrowth } from './lane-growth.ts';
import type { LanesAtWork } from './next-block.ts';

/** So often an origin refuses a further request before it is taken for one that counts them. */
const COUNTING_REFUSALS = 2;

interface SharesInit {
  readonly lanes: readonly Lane[];
  readonly growth: Pick<LaneGrowth, 'isAlone'>;
  /** How many may be at work now; without it: all. */
  readonly mostLanes: (() => number) | undefined;
  /** Told that the origin counts requests. */
  readonly onCounted: (() => void) | undefined;
}

/**
 * How many lanes may be at work at once, and who shares the work with a lane: all, the first one alone while
 * it needs no others, or each for itself where the origin counts requests.
 */
export class LaneShares {
  readonly #init: SharesInit;
  #isCounted = false;
  #refusals = 0;

  constructor(init: SharesInit) {
    this.#init = init;
  }

  /** Whether the origin counts requests: one lane asks for as much as one request is worth. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /**
   * Notes that an origin has refused a connection that it had answered: one that counts connections does that by
   * chance, one that counts requests again.
   */
  noteRefusal(): void {
    this.#refusals += 1;
    if (this.#isCounted || this.#refusals < COUNTING_REFUSALS) return;
    this.#isCounted = true;
    this.#init.onCounted?.();
  }

  /** How many may be at work now, at least one. */
  most(): number {
    const { lanes, mostLanes } = this.#init;
    return this.#isCounted ? 1 : Math.max(1, mostLanes?.() ?? lanes.length);
  }

  /** How many fetch something now. */
  get busy(): number {
    return this.#init.lanes.filter(({ fetch }) => fetch !== undefined).length;
  }

  /** The lanes that share a transfer now. */
  get atWork(): LanesAtWork {
    const { lanes, growth } = this.#init;
    return { lanes: growth.isAlone ? lanes.slice(0, 1) : lanes, isAloneForGood: lanes.length === 1 };
  }

  /** The lanes that share what one lane may take: none but itself where the origin counts requests. */
  besides(lane: Lane): LanesAtWork {
    return this.#isCounted ? { lanes: [lane], isAloneForGood: true } : this.atWork;
  }
}
