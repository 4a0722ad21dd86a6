import { RecentRate } from './recent-rate.ts';

export interface SharedLimitsInit {
  /** Transfers at once for each key. */
  readonly maxActive: number;
  /** Bits per second over ten seconds for each key; without it nothing is counted. */
  readonly maxBps: number | undefined;
  readonly nowSeconds: () => number;
}

/** Limits that many transfers share because they have a key in common: a client's network, or an origin. */
export class SharedLimits {
  readonly #init: SharedLimitsInit;
  readonly #active = new Map<string, number>();
  readonly #rate: RecentRate;

  constructor(init: SharedLimitsInit) {
    this.#init = init;
    this.#rate = new RecentRate(init.nowSeconds);
  }

  isBusy(key: string): boolean {
    return (this.#active.get(key) ?? 0) >= this.#init.maxActive;
  }

  isTooFast(key: string): boolean {
    const { maxBps } = this.#init;
    return maxBps !== undefined && this.#rate.of(key) > maxBps;
  }

  count(key: string, change: 1 | -1): void {
    const active = (this.#active.get(key) ?? 0) + change;
    if (active === 0) this.#active.delete(key);
    else this.#active.set(key, active);
  }

  note(key: string, bytes: number): void {
    if (this.#init.maxBps !== undefined) this.#rate.note(key, bytes);
  }
}
