import { ADDRESS_FAMILIES, DEPOT_ID, LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';
import type { Fact } from '../facts/fact.ts';
import type { ProvedAddresses } from './address-proof.ts';

/** What a depot has registered: its address, and the key that its id belongs to. */
export interface DepotRecord {
  readonly id: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** What a master keeps of a depot for ever. */
export interface KeptDepot extends DepotRecord {
  /** Of this address; left out where it is new. */
  readonly proof?: ProvedAddresses;
  /** Who has told what stands here, when, and under which stamp; left out by older versions. */
  readonly told?: ToldOf<'owned' | 'registered' | 'proved'>;
}

export type KeptStamp = Pick<Fact, 'source' | 'epoch' | 'sequence' | 'timeMs'>;
type ToldOf<Name extends string> = { readonly [name in Name]?: KeptStamp };

/** Where the registry outlives the process. */
export interface DepotStore {
  load(): Promise<readonly KeptDepot[]>;
  /** Replaces everything that was kept before. */
  save(depots: readonly KeptDepot[]): Promise<void>;
}

const FILE = 'depots.json';

const stampSchema = z.object({
  source: z.string(),
  epoch: z.int(),
  sequence: z.int(),
  timeMs: z.number(),
});

// What a newer version has written more is left out: whoever goes back a version must not stand still.
const fileSchema = z.object({
  depots: z.array(
    z.object({
      id: z.string().regex(DEPOT_ID),
      publicKey: z.string(),
      host: z.string(),
      port: z.int(),
      tls: z.boolean(),
      proof: z
        .object({
          provedAtMs: z.number(),
          addresses: z.array(z.string()).min(1),
          onlyFamily: z.enum(ADDRESS_FAMILIES).exactOptional(),
        })
        .exactOptional(),
      told: z
        .object({
          owned: stampSchema.exactOptional(),
          registered: stampSchema.exactOptional(),
          proved: stampSchema.exactOptional(),
        })
        .exactOptional(),
    }),
  ),
});

/** Keeps the registry as one JSON file in the state folder. `load` throws `state-damaged`. */
export class FileDepotStore implements DepotStore {
  readonly #state: StateFolder;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  async load(): Promise<readonly KeptDepot[]> {
    const text = this.#state.read(FILE);
    if (text === undefined) return [];
    try {
      return fileSchema.parse(JSON.parse(text)).depots;
    } catch (cause) {
      const detail = `${FILE}; where there is no copy move it away: depots register again`;
      throw new LonghaulError('state-damaged', { detail, cause });
    }
  }

  save(depots: readonly KeptDepot[]): Promise<void> {
    return this.#state.save(FILE, `${JSON.stringify({ depots }, undefined, 2)}\n`);
  }
}
