import type { DepotStore, KeptDepot } from '../depots/depot-store.ts';

/** Keeps the registry for the life of the process. */
export class MemoryDepotStore implements DepotStore {
  #depots: readonly KeptDepot[] = [];

  async load(): Promise<readonly KeptDepot[]> {
    return this.#depots;
  }

  async save(depots: readonly KeptDepot[]): Promise<void> {
    this.#depots = depots;
  }
}
