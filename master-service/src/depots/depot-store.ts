import { DEPOT_ID, LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';

/** What a master keeps of a depot for ever: its address, and the key that its id belongs to. */
export interface DepotRecord {
  readonly id: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** Where the registry outlives the process. */
export interface DepotStore {
  load(): Promise<readonly DepotRecord[]>;
  /** Replaces everything that was kept before. */
  save(records: readonly DepotRecord[]): Promise<void>;
}

const FILE = 'depots.json';

const fileSchema = z.strictObject({
  depots: z.array(
    z.strictObject({
      id: z.string().regex(DEPOT_ID),
      publicKey: z.string(),
      host: z.string(),
      port: z.int(),
      tls: z.boolean(),
    }),
  ),
});

/** Keeps the registry as one JSON file in the state folder. `load` throws `config-invalid` for a damaged file. */
export class FileDepotStore implements DepotStore {
  readonly #state: StateFolder;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  async load(): Promise<readonly DepotRecord[]> {
    const text = this.#state.read(FILE);
    if (text === undefined) return [];
    try {
      return fileSchema.parse(JSON.parse(text)).depots;
    } catch (cause) {
      throw new LonghaulError('config-invalid', { detail: `stateDir: ${FILE} is damaged`, cause });
    }
  }

  save(records: readonly DepotRecord[]): Promise<void> {
    return this.#state.save(FILE, `${JSON.stringify({ depots: records }, undefined, 2)}\n`);
  }
}

/** Keeps the registry for the life of the process; for tests. */
export class MemoryDepotStore implements DepotStore {
  #records: readonly DepotRecord[] = [];

  async load(): Promise<readonly DepotRecord[]> {
    return this.#records;
  }

  async save(records: readonly DepotRecord[]): Promise<void> {
    this.#records = records;
  }
}
