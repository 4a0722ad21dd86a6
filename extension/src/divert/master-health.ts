import type { StorageArea } from '../browser/browser-api.ts';

interface MasterHealthDependencies {
  /** Forgets with the browser's end: then the master is asked before anything is led to it. */
  readonly area: StorageArea;
  readonly isHealthy: (master: string, signal: AbortSignal) => Promise<boolean>;
  readonly greetDepot: (location: string, signal: AbortSignal) => Promise<boolean>;
  readonly deadline: () => AbortSignal;
  readonly now: () => number;
}

/** The master has its plans go past a depot by then that is gone for everybody. */
const SILENT_DEPOT_MS = 600_000;

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
    if (depot && (await this.#deps.greetDepot(depot, this.#deps.deadline()))) await this.noteDepot(master);
    const isWell = await this.#deps.isHealthy(master, this.#deps.deadline());
    await this.note(master, isWell);
    return isWell;
  }

  /** Somebody has seen how it is. */
  async note(master: string, isWell: boolean): Promise<void> {
    await this.#deps.area.set({ [keyOf(master)]: isWell });
  }

  /** Somebody has seen that the depot at this address is silent; left out, nothing is known of any. */
  async noteDepot(master: string, location?: string): Promise<void> {
    const place = location === undefined ? '' : new URL(location).origin;
    await this.#deps.area.set({ [silentKeyOf(master)]: [place, this.#deps.now() + SILENT_DEPOT_MS] });
  }

  async #silentDepot(master: string): Promise<string> {
    const key = silentKeyOf(master);
    const [place, untilMs] = ((await this.#deps.area.get(key))[key] ?? ['', 0]) as [string, number];
    return this.#deps.now() < untilMs ? place : '';
  }
}
