import type { StorageArea } from '../browser/browser-api.ts';

interface MasterHealthDependencies {
  /** Forgets with the browser's end: then the master is asked before anything is led to it. */
  readonly area: StorageArea;
  readonly isHealthy: (master: string, signal: AbortSignal) => Promise<boolean>;
  /** The id of the depot there; empty where what answers does not say one. */
  readonly whoIsAt: (location: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly deadline: () => AbortSignal;
  readonly now: () => number;
}

/** The master has its plans go past a depot by then that is gone for everybody. */
const SILENT_DEPOT_MS = 600_000;
/** A network that never lets through to a depot costs a request each time that it is tried again. */
const MOST_SILENT_DEPOT_MS = 14_400_000;

/** One for each master: what is late about one says nothing of another. */
const keyOf = (master: string): string => `well ${master}`;
/** A depot that its plans lead to and that this network does not. */
const silentKeyOf = (master: string): string => `silent ${master}`;

/**
 * Whether the master was well when it was asked last, and no depot that it leads to is silent here. A master
 * that nobody has asked yet is not well.
 */
export class MasterHealth {
  readonly #deps: MasterHealthDependencies;

  constructor(deps: MasterHealthDependencies) {
    this.#deps = deps;
  }

  async isWell(master: string): Promise<boolean> {
    const key = keyOf(master);
    const isWell = (await this.#deps.area.get(key))[key] === true;
    return isWell && !(await this.#silentDepot(master));
  }

  /** Asks it, and the depot that was silent. */
  async look(master: string): Promise<boolean> {
    const depot = await this.#silentDepot(master);
    // A network's own page is no greeting.
    const isThere = depot && (await this.#deps.whoIsAt(depot, this.#deps.deadline()));
    // Another one may have been noted meanwhile.
    if (isThere && (await this.#silentDepot(master)) === depot) await this.noteDepot(master);
    const isWell = await this.#deps.isHealthy(master, this.#deps.deadline());
    await this.note(master, isWell);
    return isWell;
  }

  /** Somebody has seen how it is. */
  async note(master: string, isWell: boolean): Promise<void> {
    await this.#deps.area.set({ [keyOf(master)]: isWell });
  }

  /**
   * Somebody has seen that the depot at this address is silent; left out, nothing is known of any. Where the
   * note of the same depot was over, and it has answered no greeting meanwhile, that holds twice as long.
   */
  async noteDepot(master: string, location?: string): Promise<void> {
    const place = location === undefined ? '' : new URL(location).origin;
    const nowMs = this.#deps.now();
    const [before, untilMs, beforeMs] = await this.#noted(master);
    const againMs = nowMs < untilMs ? beforeMs : Math.min(2 * beforeMs, MOST_SILENT_DEPOT_MS);
    const holdMs = place === before ? againMs : SILENT_DEPOT_MS;
    await this.#deps.area.set({ [silentKeyOf(master)]: [place, nowMs + holdMs, holdMs] });
  }

  async #silentDepot(master: string): Promise<string> {
    const [place, untilMs] = await this.#noted(master);
    return this.#deps.now() < untilMs ? place : '';
  }

  /** The depot that was silent last, until when that holds, and how long it was to hold. */
  async #noted(master: string): Promise<readonly [string, number, number]> {
    const key = silentKeyOf(master);
    return ((await this.#deps.area.get(key))[key] ?? ['', 0, 0]) as [string, number, number];
  }
}
