import {
  addressProofText,
  type ChallengeAnswer,
  clientPrefix,
  ok,
  parseChallengeTarget,
  type RegisterRequest,
  type Result,
  refuse,
} from '@longhaul/shared';
import type { Identity } from '../identity.ts';

/** Answers to one client network (/24 or /48) in a minute: a few masters ask a few times an hour each. */
const ANSWERS_PER_MINUTE = 60;
/** Networks answered in a minute, so that what strangers ask costs a few hundredths of a core at most. */
const NETWORKS_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;

interface AddressChallengesComponents {
  readonly identity: Identity;
  /** Where this depot is registered. */
  readonly place: () => Pick<RegisterRequest, 'host' | 'port' | 'tls'>;
  readonly nowMs: () => number;
}

/** Proves to whoever asks that this depot is where it is registered; bounded, because each proof is a signature. */
export class AddressChallenges {
  readonly #components: AddressChallengesComponents;
  readonly #answered = new Map<string, number>();
  #minute = 0;

  constructor(components: AddressChallengesComponents) {
    this.#components = components;
  }

  /** Answers a raw request target of a challenge; `bad-request`, or `too-many-challenges`. */
  answer(target: string, clientAddress: string): Result<ChallengeAnswer> {
    const challenge = parseChallengeTarget(target);
    if (!challenge.ok) return challenge;
    if (!this.#takeTurn(clientPrefix(clientAddress))) return refuse('too-many-challenges');
    const { identity, place } = this.#components;
    const { id } = identity;
    return ok({ id, signature: identity.sign(addressProofText(id, place(), challenge.value)) });
  }

  #takeTurn(network: string): boolean {
    const minute = Math.floor(this.#components.nowMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#answered.clear();
    this.#minute = minute;
    const answered = this.#answered.get(network) ?? 0;
    const isNew = answered === 0;
    if (answered >= ANSWERS_PER_MINUTE || (isNew && this.#answered.size >= NETWORKS_PER_MINUTE)) return false;
    this.#answered.set(network, answered + 1);
    return true;
  }
}
