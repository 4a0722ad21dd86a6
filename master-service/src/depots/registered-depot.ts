import {
  type ErrorCode,
  type HeartbeatRequest,
  LonghaulError,
  ok,
  type RequestStamp,
  type Result,
  refuse,
  type Standing,
} from '@longhaul/shared';
import { AddressProof } from './address-proof.ts';
import type { DepotRecord, KeptDepot } from './depot-store.ts';
import { ReplayGuard } from './replay-guard.ts';

/** `unproved`: heard of, but it has not answered at its address with its key. Only depots that are `up` are planned with. */
export type DepotState = 'up' | 'draining' | 'lost' | 'unproved';

/** Heartbeats of another process that make it a second one: a single one may only be late. */
const TWIN_HEARTBEATS = 2;

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
  /** The process that counts: the one that registered last. */
  #epoch: string | undefined;
  /** Number of its newest heartbeat. */
  #newestHeartbeat = 0;
  /** Heartbeats of other processes, since there were none for a while. */
  #twinHeartbeats = 0;
  #twinHeardAtMs = 0;

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
    const problem = this.#problem(nowMs);
    return {
      state: state === 'lost' ? 'unproved' : state,
      ...(problem ? { problem: { code: problem.code, message: problem.message } } : {}),
    };
  }

  /** What its operator should look at; `undefined` when there is nothing, or nothing is heard of it. */
  problemCode(nowMs: number): ErrorCode | undefined {
    return this.isHeard(nowMs) ? this.#problem(nowMs)?.code : undefined;
  }

  /**
   * Takes in a registration by the same key: this process counts from now on. `true` when the depot has moved; a new address
   * proves nothing yet.
   */
  register(record: DepotRecord, { epoch }: RequestStamp, nowMs: number): boolean {
    const hasMoved = JSON.stringify(this.#record) !== JSON.stringify(record);
    if (hasMoved) {
      this.#record = record;
      this.#proof = new AddressProof();
    }
    this.#proof.begin();
    if (epoch !== this.#epoch) this.#newestHeartbeat = 0;
    this.#epoch = epoch;
    this.#heardAtMs = nowMs;
    this.#draining = false;
    return hasMoved;
  }

  /**
   * Takes in a heartbeat; `false` when there is nothing new in it. `depot-twice` to another process than the one that counts;
   * `depot-unknown` when that one drains or is not heard of any more, so that this one may register.
   */
  hear(heartbeat: HeartbeatRequest, { epoch, sequence }: RequestStamp, nowMs: number): Result<boolean> {
    // After a restart of the master the first one counts.
    this.#epoch ??= epoch;
    if (epoch !== this.#epoch) return this.#hearOther(heartbeat, nowMs);
    if (sequence <= this.#newestHeartbeat) return ok(false);
    this.#newestHeartbeat = sequence;
    this.#heardAtMs = nowMs;
    this.#draining = heartbeat.draining;
    return ok(true);
  }

  #hearOther({ draining }: HeartbeatRequest, nowMs: number): Result<boolean> {
    // The process before a restart may serve its last transfers for a while.
    if (draining) return ok(false);
    if (this.#draining || !this.isHeard(nowMs)) return refuse('depot-unknown');
    if (!this.#isTwinHeard(nowMs)) this.#twinHeartbeats = 0;
    this.#twinHeartbeats += 1;
    this.#twinHeardAtMs = nowMs;
    return refuse('depot-twice');
  }

  #isTwinHeard(nowMs: number): boolean {
    return Math.abs(nowMs - this.#twinHeardAtMs) <= this.#lostAfterMs;
  }

  #problem(nowMs: number): LonghaulError | undefined {
    const isTwice = this.#twinHeartbeats >= TWIN_HEARTBEATS && this.#isTwinHeard(nowMs);
    return isTwice ? new LonghaulError('depot-twice') : this.#proof.problem;
  }

  /** Takes in what came of asking for proof. */
  noteProof(outcome: Result<readonly string[]>, nowMs: number): void {
    this.#proof.note(outcome, nowMs);
    if (outcome.ok) this.#isOwned = true;
  }
}
