import {
  type AddressPolicy,
  type Authority,
  canonicalHost,
  type DepotEntry,
  decodeBase64url,
  type HeartbeatRequest,
  isAddressLiteral,
  ok,
  type RegisterRequest,
  type Result,
  refuse,
  refuseOverlayAddress,
} from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { DepotRecord, DepotStore } from './depot-store.ts';

/** A depot counts as lost when it has missed this many heartbeats: one may get lost, two may be late. */
const MISSED_HEARTBEATS = 3;
const ED25519_KEY_BYTES = 32;

export type DepotState = DepotEntry['state'];

interface RegisteredDepot {
  readonly record: DepotRecord;
  draining: boolean;
  /** `undefined`: not heard of since this master started, so its state is unknown and it counts as lost. */
  heardAtMs: number | undefined;
  /** The depot's own time of its newest registration; that one and older ones are replays. */
  readonly newestRegistrationMs: number;
  /** The depot's own time of its newest heartbeat; older ones that overtake nothing are ignored. */
  newestHeartbeatMs: number;
}

interface DepotRegistryInit {
  readonly store: DepotStore;
  readonly heartbeatSeconds: number;
  readonly addresses: AddressPolicy;
}

/** All registered depots: their kept records, and what the last heartbeats said. */
export class DepotRegistry {
  readonly #store: DepotStore;
  readonly #lostAfterMs: number;
  readonly #policy: AddressPolicy;
  readonly #depots = new Map<string, RegisteredDepot>();
  #unsaved = false;

  constructor({ store, heartbeatSeconds, addresses }: DepotRegistryInit) {
    this.#store = store;
    this.#policy = addresses;
    this.#lostAfterMs = MISSED_HEARTBEATS * heartbeatSeconds * 1000;
  }

  /** Reads the records of earlier runs. Their depots count as lost until they are heard of. */
  async load(): Promise<void> {
    for (const record of await this.#store.load()) {
      this.#put({ record, heardAtMs: undefined, newestRegistrationMs: 0, newestHeartbeatMs: 0 });
    }
  }

  /**
   * Adds a depot or changes its address, dated by the depot's clock; `depot-key-mismatch` when its id belongs to another
   * key, `depot-address-not-allowed` where no depot may be, `enrolment-refused` when the same or a newer registration was
   * here already.
   */
  async register(request: RegisterRequest, depotTimeMs: number, nowMs: number): Promise<Result<void>> {
    const { id, publicKey, port, tls } = request;
    if (id === CLIENT || id === ORIGIN) return refuse('bad-request', `${id} cannot be a depot's id`);
    if (decodeBase64url(publicKey)?.length !== ED25519_KEY_BYTES) {
      return refuse('bad-request', 'publicKey is not a raw Ed25519 key');
    }
    const host = canonicalHost(bracketed(request.host));
    if (!host.ok) return refuse('bad-request', 'host is not valid');
    const isLiteral = isAddressLiteral(host.value);
    const refusal = isLiteral ? refuseOverlayAddress(host.value, port, this.#policy) : undefined;
    if (refusal) return refuse(refusal);
    const present = this.#depots.get(id);
    if (present && present.record.publicKey !== publicKey) return refuse('depot-key-mismatch');
    if (present && depotTimeMs <= present.newestRegistrationMs) {
      return refuse('enrolment-refused', 'the registration is not newer than the one before');
    }
    const record: DepotRecord = { id, publicKey, host: host.value, port, tls };
    if (JSON.stringify(present?.record) !== JSON.stringify(record)) this.#unsaved = true;
    const newestHeartbeatMs = present?.newestHeartbeatMs ?? 0;
    this.#put({ record, heardAtMs: nowMs, newestRegistrationMs: depotTimeMs, newestHeartbeatMs });
    await this.#save();
    return ok(undefined);
  }

  /** Takes in a heartbeat, dated by the depot's clock; `false` when a newer one was here already. */
  hear(id: string, heartbeat: HeartbeatRequest, depotTimeMs: number, nowMs: number): boolean {
    const depot = this.#depots.get(id);
    if (!depot || depotTimeMs <= depot.newestHeartbeatMs) return false;
    depot.newestHeartbeatMs = depotTimeMs;
    depot.heardAtMs = nowMs;
    depot.draining = heartbeat.draining;
    return true;
  }

  record(id: string): DepotRecord | undefined {
    return this.#depots.get(id)?.record;
  }

  /** The depot's record with its state now; `undefined` for an id that is not registered. */
  entry(id: string, nowMs: number): DepotEntry | undefined {
    const depot = this.#depots.get(id);
    return depot && { ...depot.record, state: this.#stateOf(depot, nowMs) };
  }

  /** All depots with their states, ordered by id. */
  entries(nowMs: number): DepotEntry[] {
    return [...this.#depots.values()]
      .map((depot) => ({ ...depot.record, state: this.#stateOf(depot, nowMs) }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  addresses(): Authority[] {
    return [...this.#depots.values()].map(({ record }) => ({ host: record.host, port: record.port }));
  }

  async #save(): Promise<void> {
    if (!this.#unsaved) return;
    this.#unsaved = false;
    try {
      await this.#store.save([...this.#depots.values()].map((depot) => depot.record));
    } catch (error) {
      this.#unsaved = true;
      throw error;
    }
  }

  #put(depot: Omit<RegisteredDepot, 'draining'>): void {
    this.#depots.set(depot.record.id, { ...depot, draining: false });
  }

  #stateOf(depot: RegisteredDepot, nowMs: number): DepotState {
    if (depot.heardAtMs === undefined || nowMs - depot.heardAtMs > this.#lostAfterMs) return 'lost';
    return depot.draining ? 'draining' : 'up';
  }
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
