import type { StorageArea } from '../browser/browser-api.ts';

interface MasterHealthDependencies {
  /** Forgets with the browser's end: then the master is asked before anything is led to it. */
  readonly area: StorageArea;
  readonly isHealthy: (master: string, signal: AbortSignal) => Promise<boolean>;
  readonly deadline: () => AbortSignal;
}

/** One for each master: what is late about one says nothing of another. */
const keyOf = (master: string): string => `well ${master}`;

/** Whether the master was well when it was asked last. One that nobody has asked yet is not. */
export class MasterHealth {
  readonly #deps: MasterHealthDependencies;

  constructor(deps: MasterHealthDependencies) {
    this.#deps = deps;
  }

  async isWell(master: string): Promise<boolean> {
    const key = keyOf(master);
    return (await this.#deps.area.get(key))[key] === true;
  }

  /** Asks it. */
  async look(master: string): Promise<boolean> {
    const isWell = await this.#deps.isHealthy(master, this.#deps.deadline());
    await this.note(master, isWell);
    return isWell;
  }

  /** Somebody has seen how it is. */
  async note(master: string, isWell: boolean): Promise<void> {
    await this.#deps.area.set({ [keyOf(master)]: isWell });
  }
}
