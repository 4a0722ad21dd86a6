import {
  type AddressPolicy,
  type Authority,
  canonicalHost,
  type DepotEntry,
  type HeartbeatRequest,
  isAddressLiteral,
  ok,
  type RegisterRequest,
  type RequestStamp,
  type Result,
  refuse,
  refuseOverlayAddress,
} from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { DepotRecord, DepotStore } from './depot-store.ts';
import { ReplayGuard } from './replay-guard.ts';

/** A depot counts as lost when it has missed this many heartbeats: one may get lost, two may be late. */
const MISSED_HEARTBEATS = 3;

export type DepotState = DepotEntry['state'];

interface RegisteredDepot {
  readonly record: DepotRecord;
  draining: boolean;
  /** `undefined`: not heard of since this master started, so its state is unknown and it counts as lost. */
  heardAtMs: number | undefined;
  readonly replays: ReplayGuard;
  /** The newest heartbeat; of the same epoch, one that it has overtaken is ignored. */
  newestHeartbeat: Pick<RequestStamp, 'epoch' | 'sequence'> | undefined;
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
      this.#depots.set(record.id, newDepot(record));
    }
  }

  /**
   * Adds a depot or changes its address; `depot-key-mismatch` when its id belongs to another key,
   * `depot-address-not-allowed` where no depot may be, `request-replayed` when the registration was here before.
   */
  async register(request: RegisterRequest, stamp: RequestStamp, nowMs: number): Promise<Result<void>> {
    const { id, publicKey, port, tls } = request;
    if (id === CLIENT || id === ORIGIN) return refuse('bad-request', `${id} cannot be a depot's id`);
    const host = canonicalHost(request.host);
    if (!host.ok) return refuse('bad-request', 'host is not valid');
    const isLiteral = isAddressLiteral(host.value);
    const refusal = isLiteral ? refuseOverlayAddress(host.value, port, this.#policy) : undefined;
    if (refusal) return refuse(refusal);
    const record: DepotRecord = { id, publicKey, host: host.value, port, tls };
    const present = this.#depots.get(id);
    if (present && present.record.publicKey !== publicKey) return refuse('depot-key-mismatch');
    const depot = present ?? newDepot(record);
    if (!depot.replays.take(stamp, nowMs)) return refuse('request-replayed');
    if (!present || JSON.stringify(depot.record) !== JSON.stringify(record)) this.#unsaved = true;
    this.#depots.set(id, { ...depot, record, heardAtMs: nowMs, draining: false });
    await this.#save();
    return ok(undefined);
  }

  /** Admits an authenticated request of a registered depot; `request-replayed` when it was here before. */
  admit(id: string, stamp: RequestStamp, nowMs: number): Result<void> {
    const isNew = this.#depots.get(id)?.replays.take(stamp, nowMs) ?? false;
    return isNew ? ok(undefined) : refuse('request-replayed');
  }

  /** Takes in a heartbeat; `false` when a newer one of the same process was here already. */
  hear(id: string, heartbeat: HeartbeatRequest, { epoch, sequence }: RequestStamp, nowMs: number): boolean {
    const depot = this.#depots.get(id);
    const newest = depot?.newestHeartbeat;
    if (!depot || (newest?.epoch === epoch && sequence <= newest.sequence)) return false;
    depot.newestHeartbeat = { epoch, sequence };
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

  #stateOf(depot: RegisteredDepot, nowMs: number): DepotState {
    if (depot.heardAtMs === undefined || nowMs - depot.heardAtMs > this.#lostAfterMs) return 'lost';
    return depot.draining ? 'draining' : 'up';
  }
}

function newDepot(record: DepotRecord): RegisteredDepot {
  return {
    record,
    draining: false,
    heardAtMs: undefined,
    replays: new ReplayGuard(),
    newestHeartbeat: undefined,
  };
}
