import {
  type Chain,
  CLOCK_SKEW_SECONDS,
  type ConnectProof,
  decodeBase64url,
  ok,
  parseProof,
  proofText,
  type Result,
  refuse,
} from '@longhaul/shared';
import { FairRoom, type VerifySignature } from '@longhaul/shared/service';
import type { Identity } from '../identity.ts';

const SKEW_MS = CLOCK_SKEW_SECONDS * 1000;
/** Proofs remembered at once: those of two minutes in which 1600 chains are built each second. */
const MOST_SEEN = 200_000;

/** Makes the proofs with which this depot calls the next one of a chain. */
export class ProofMaker {
  readonly #identity: Identity;
  readonly #nowMs: () => number;
  #lastMs = 0;

  constructor(identity: Identity, nowMs: () => number) {
    this.#identity = identity;
    this.#nowMs = nowMs;
  }

  make(ticket: string, chainIndex: number, place: number): ConnectProof {
    // Receivers take a proof once, so two calls within a millisecond get different times.
    this.#lastMs = Math.max(this.#nowMs(), this.#lastMs + 1);
    const claim = { depot: this.#identity.id, timeMs: this.#lastMs };
    return { ...claim, signature: this.#identity.sign(proofText(claim, ticket, chainIndex, place)) };
  }
}

interface ProofCheckerComponents {
  readonly depotKey: (id: string) => VerifySignature | undefined;
  readonly nowMs: () => number;
  readonly mostSeen?: number;
}

/** A proof that was taken, by its signature. */
interface Seen {
  readonly depot: string;
  readonly seenAtMs: number;
}

/** Checks that a caller is the previous depot of a chain, now, and for the first time with this proof. */
export class ProofChecker {
  readonly #components: ProofCheckerComponents;
  readonly #seen = new Map<string, Seen>();
  readonly #room: FairRoom;

  constructor(components: ProofCheckerComponents) {
    this.#components = components;
    this.#room = new FairRoom(components.mostSeen ?? MOST_SEEN);
  }

  check(text: string, ticket: string, chainIndex: number, chain: Chain, ownPlace: number): Result<string> {
    const proof = parseProof(text);
    if (!proof.ok) return proof;
    const { depot, timeMs, signature } = proof.value;
    const place = ownPlace - 1;
    if (chain[place] !== depot) return refuse('caller-not-proved', 'another depot comes before this one');
    const now = this.#components.nowMs();
    if (Math.abs(now - timeMs) > SKEW_MS) return refuse('caller-not-proved', 'the clocks differ too much');
    const signed = new TextEncoder().encode(proofText(proof.value, ticket, chainIndex, place));
    const bytes = decodeBase64url(signature);
    const verify = this.#components.depotKey(depot);
    if (!bytes || !verify?.(signed, bytes)) return refuse('caller-not-proved', 'the signature is wrong');
    this.#forgetOld(now);
    if (this.#seen.has(signature)) return refuse('caller-not-proved', 'the proof was used before');
    if (!this.#room.take(depot, 1)) return refuse('depot-full', 'too many proofs to remember');
    this.#seen.set(signature, { depot, seenAtMs: now });
    return ok(depot);
  }

  #forgetOld(now: number): void {
    // Insertion order is time order, so the old ones come first.
    for (const [signature, { depot, seenAtMs }] of this.#seen) {
      // Further from its time a proof is refused by that alone, also when the clock was set back.
      if (Math.abs(now - seenAtMs) <= 2 * SKEW_MS) break;
      this.#seen.delete(signature);
      this.#room.giveBack(depot, 1);
    }
  }
}
