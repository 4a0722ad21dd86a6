import type { HeartbeatRequest, RequestStamp, Result, Standing } from '@longhaul/shared';
import { AddressProof } from './address-proof.ts';
import type { DepotRecord, KeptDepot } from './depot-store.ts';
import { ReplayGuard } from './replay-guard.ts';

/** `unproved`: heard of, but it has not answered at its address with its key. Only depots that are `up` are planned with. */
export type DepotState = 'up' | 'draining' | 'lost' | 'unproved';

/** One depot of a master: what it registered, what it has proved of it, and what its last heartbeat said. */
export class RegisteredDepot {
  readonly replays = new ReplayGuard();
  readonly #lostAfterMs: number;
  #record: DepotRecord;
  #proof: AddressProof;
  #isOwned: boolean;
  #draining = false;
  /** `undefined`: not heard of since this master started, so its state is unknown and it counts as lost. */
  #heardAtMs: number | undefined;
  #newestHeartbeat: Pick<RequestStamp, 'epoch' | 'sequence'> | undefined;

  private constructor(record: DepotRecord, proof: AddressProof, isOwned: boolean, lostAfterMs: number) {
    this.#record = record;
    this.#proof = proof;
    this.#isOwned = isOwned;
    this.#lostAfterMs = lostAfterMs;
  }

  /** A depot that nobody knew; it counts as lost when it has not been heard of for `lostAfterMs`. */
  static first(record: DepotRecord, lostAfterMs: number): RegisteredDepot {
    return new RegisteredDepot(record, new AddressProof(), false, lostAfterMs);
  }

  static fromKept({ proof, ...record }: KeptDepot, lostAfterMs: number): RegisteredDepot {
    return new RegisteredDepot(record, new AddressProof(proof), true, lostAfterMs);
  }

  get record(): DepotRecord {
    return this.#record;
  }

  get proof(): AddressProof {
    return this.#proof;
  }

  /** Whether the id belongs to this key for good: it has proved an address once. */
  get isOwned(): boolean {
    return this.#isOwned;
  }

  /** What outlives the process. */
  get kept(): KeptDepot {
    const { newest } = this.#proof;
    return newest ? { ...this.#record, proof: newest } : this.#record;
  }

  isHeard(nowMs: number): boolean {
    return this.#heardAtMs !== undefined && nowMs - this.#heardAtMs <= this.#lostAfterMs;
  }

  state(nowMs: number): DepotState {
    if (!this.isHeard(nowMs)) return 'lost';
    if (!this.#proof.valid(nowMs)) return 'unproved';
    return this.#draining ? 'draining' : 'up';
  }

  /** What the depot is told of itself, when it has just been heard. */
  standing(nowMs: number): Standing {
    const state = this.state(nowMs);
    const { problem } = this.#proof;
    return {
      state: state === 'lost' ? 'unproved' : state,
      ...(problem ? { problem: { code: problem.code, message: problem.message } } : {}),
    };
  }

  /** Takes in a registration by the same key; `true` when the depot has moved. An address that is new proves nothing yet. */
  register(record: DepotRecord, nowMs: number): boolean {
    const hasMoved = JSON.stringify(this.#record) !== JSON.stringify(record);
    if (hasMoved) {
      this.#record = record;
      this.#proof = new AddressProof();
    }
    this.#proof.begin();
    this.#heardAtMs = nowMs;
    this.#draining = false;
    return hasMoved;
  }

  /** Takes in a heartbeat; `false` when a newer one of the same process was here already. */
  hear(heartbeat: HeartbeatRequest, { epoch, sequence }: RequestStamp, nowMs: number): boolean {
    const newest = this.#newestHeartbeat;
    if (newest?.epoch === epoch && sequence <= newest.sequence) return false;
    this.#newestHeartbeat = { epoch, sequence };
    this.#heardAtMs = nowMs;
    this.#draining = heartbeat.draining;
    return true;
  }

  /** Takes in what came of asking for proof. */
  noteProof(outcome: Result<readonly string[]>, nowMs: number): void {
    this.#proof.note(outcome, nowMs);
    if (outcome.ok) this.#isOwned = true;
  }
}
