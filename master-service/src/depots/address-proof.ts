import type { AddressFamily, LonghaulError } from '@longhaul/shared';

/** A proof is renewed when it is so old: one request to each depot in this time. */
const RENEW_AFTER_MS = 300_000;
/** A proof that could not be renewed for so long is over: the depot is gone, and its address may be somebody else's. */
const PROOF_LIFE_MS = 1_800_000;
/** A depot that has not proved its address is asked again after this time, then after twice as long ... */
const FIRST_RETRY_MS = 5_000;
/** ... up to this: somebody has to open a port first. */
const LONGEST_RETRY_MS = 300_000;

/** Where a depot has answered with its key. */
export interface ProvedPlace {
  /** Those really connected, of the host that is registered. */
  readonly addresses: readonly string[];
  /** Who has not this family cannot reach it; left out where either one does, or nobody knows. */
  readonly onlyFamily?: AddressFamily | undefined;
}

/** The same, and when. */
export interface ProvedAddresses extends ProvedPlace {
  readonly provedAtMs: number;
}

/** Whether a depot is where its registration says: what is known of that, and when this master is to ask it again. */
export class AddressProof {
  #proved: ProvedAddresses | undefined;
  #problem: LonghaulError | undefined;
  #failures = 0;
  #failedAtMs = 0;

  /**
   * Takes over what is known: the newest proof, and why the depot could not prove its address when it was
   * asked last.
   */
  know(proved: ProvedAddresses | undefined, problem: LonghaulError | undefined): void {
    this.#proved = proved;
    this.#problem = problem;
  }

  /** What counts now; `undefined` where the depot has proved nothing, or too long ago. */
  valid(nowMs: number): ProvedAddresses | undefined {
    // A clock that was set back does not prolong a proof.
    const isValid = this.#proved && Math.abs(nowMs - this.#proved.provedAtMs) <= PROOF_LIFE_MS;
    return isValid ? this.#proved : undefined;
  }

  /** The newest proof, valid or not. */
  get newest(): ProvedAddresses | undefined {
    return this.#proved;
  }

  /** Why the depot could not prove its address when it was asked last. */
  get problem(): LonghaulError | undefined {
    return this.#problem;
  }

  isDue(nowMs: number): boolean {
    const valid = this.valid(nowMs);
    if (valid && Math.abs(nowMs - valid.provedAtMs) < RENEW_AFTER_MS) return false;
    if (this.#failures === 0) return true;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS);
    return Math.abs(nowMs - this.#failedAtMs) >= waitMs;
  }

  /** Takes note that it was asked, and whether it has proved its address. */
  noteAsked(hasProved: boolean, nowMs: number): void {
    this.#failures = hasProved ? 0 : this.#failures + 1;
    this.#failedAtMs = nowMs;
  }

  /** Forgets that it failed: the depot has registered anew and is asked at once. */
  begin(): void {
    this.#failures = 0;
  }
}
