import {
  type Authority,
  type DepotEntry,
  type Directory,
  directorySchema,
  MAX_REVOKED_KEYS,
} from '@longhaul/shared';
import { parseJson, type StateFolder, type VerifySignature, verifierFor } from '@longhaul/shared/service';

const CACHE_FILE = 'directory.json';

/**
 * What this depot knows of the overlay: other depots by id, the masters' keys. Ids in tickets are resolved here and
 * nowhere else. The last answer of the master is kept on disk, so that a restart needs no master.
 */
export class DepotDirectory {
  readonly #state: StateFolder;
  #kept: string | undefined;
  #depots = new Map<string, DepotEntry>();
  #masterKeys = new Map<string, VerifySignature>();
  #depotKeys = new Map<string, VerifySignature>();
  /** By public key: most directories bring the keys of the one before. */
  #verifiers = new Map<string, VerifySignature>();
  #masterUrls: readonly string[] = [];
  /** Keys that some master has revoked, the newest last. One that has not heard of it yet does not bring them back. */
  #revoked: readonly string[] = [];

  constructor(state: StateFolder) {
    this.#state = state;
    this.#kept = state.read(CACHE_FILE);
    const directory = this.#kept === undefined ? undefined : directorySchema.safeParse(parseJson(this.#kept));
    if (directory?.success) this.#apply(directory.data);
  }

  /**
   * Takes over a directory that has been proved to come from the master, at once; resolves when it is kept,
   * or cannot be.
   */
  async update(directory: Directory): Promise<void> {
    this.#apply(directory);
    const revoked = this.#revoked.length > 0 ? { revokedKeys: [...this.#revoked] } : {};
    const text = JSON.stringify({ ...directory, ...revoked });
    if (text === this.#kept) return;
    try {
      await this.#state.save(CACHE_FILE, text);
      this.#kept = text;
    } catch {
      // The folder tells it. Only the next start misses it: a full disk is no reason to count as one that has
      // not heard its master.
    }
  }

  depot(id: string): DepotEntry | undefined {
    return this.#depots.get(id);
  }

  get depots(): readonly DepotEntry[] {
    return [...this.#depots.values()];
  }

  /** Where the depots are, by address. */
  get places(): readonly Authority[] {
    return [...this.#depots.values()].flatMap(({ addresses, port }) =>
      addresses.map((host) => ({ host, port })),
    );
  }

  masterKey(keyId: string): VerifySignature | undefined {
    return this.#masterKeys.get(keyId);
  }

  depotKey(id: string): VerifySignature | undefined {
    return this.#depotKeys.get(id);
  }

  /** Public base URLs of the masters; empty before the first answer of one. */
  get masterUrls(): readonly string[] {
    return this.#masterUrls;
  }

  #apply(directory: Directory): void {
    const told = directory.revokedKeys ?? [];
    this.#revoked = [...new Set([...this.#revoked.filter((key) => !told.includes(key)), ...told])].slice(
      -MAX_REVOKED_KEYS,
    );
    const revoked = new Set(this.#revoked);
    const depots = directory.depots.filter(({ publicKey }) => !revoked.has(publicKey));
    this.#depots = new Map(depots.map((entry) => [entry.id, entry]));
    const before = this.#verifiers;
    this.#verifiers = new Map();
    this.#depotKeys = this.#keyTable(
      before,
      depots.map((entry) => [entry.id, entry.publicKey]),
    );
    this.#masterKeys = this.#keyTable(
      before,
      directory.masterKeys.map((entry) => [entry.keyId, entry.publicKey]),
    );
    this.#masterUrls = directory.masterUrls;
  }

  #keyTable(
    before: ReadonlyMap<string, VerifySignature>,
    keys: readonly (readonly [string, string])[],
  ): Map<string, VerifySignature> {
    const table = new Map<string, VerifySignature>();
    for (const [id, publicKey] of keys) {
      const verify = before.get(publicKey) ?? verifierFor(publicKey);
      if (!verify) continue;
      this.#verifiers.set(publicKey, verify);
      table.set(id, verify);
    }
    return table;
  }
}
