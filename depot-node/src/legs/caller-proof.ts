import { timingSafeEqual } from 'node:crypto';
import {
  type Chain,
  CLOCK_SKEW_SECONDS,
  type ConnectProof,
  decodeBase64url,
  isMac,
  ok,
  parseProof,
  proofText,
  type Result,
  refuse,
} from '@longhaul/shared';
import { type FailedChecks, FairRoom, LruMap, type VerifySignature } from '@longhaul/shared/service';
import type { Identity } from '../identity.ts';
import type { PairMacs } from './pair-macs.ts';

const SKEW_MS = CLOCK_SKEW_SECONDS * 1000;
/** Proofs remembered at once: those of two minutes in which 1600 chains are built each second. */
const MOST_SEEN = 200_000;
/** Proofs made within a moment are ahead of the clock by less. */
const MOST_AHEAD_MS = 1000;
/** Neighbours of whom is remembered that they take MACs; to others proofs are signed. */
const MOST_NEIGHBOURS = 1000;

interface ProofMakerComponents {
  readonly identity: Pick<Identity, 'id' | 'sign'>;
  readonly macs: Pick<PairMacs, 'with'>;
  readonly nowMs: () => number;
}

/** Makes the proofs with which this depot calls the next one of a chain. */
export class ProofMaker {
  readonly #components: ProofMakerComponents;
  /** By their ids: neighbours that have said so, until they refuse one. */
  readonly #takesMacs = new LruMap<string, boolean>(MOST_NEIGHBOURS);
  #lastMs = 0;

  constructor(components: ProofMakerComponents) {
    this.#components = components;
  }

  /** Signed; or, for a neighbour that has said that it takes them, a MAC, which costs a tenth at both ends. */
  make(ticket: string, chainIndex: number, place: number, neighbour?: string): ConnectProof {
    const { identity, macs, nowMs } = this.#components;
    // Receivers take a proof once, so two calls within a millisecond get different times.
    const now = nowMs();
    const next = this.#lastMs + 1;
    // Unless the clock was set back: what is ahead of it would be refused until it is there again.
    this.#lastMs = next - now > MOST_AHEAD_MS ? now : Math.max(now, next);
    const claim = { depot: identity.id, timeMs: this.#lastMs };
    const text = proofText(claim, ticket, chainIndex, place);
    const takesMacs = neighbour !== undefined && this.#takesMacs.get(neighbour) === true;
    const mac = takesMacs ? macs.with(neighbour) : undefined;
    return { ...claim, signature: mac ? mac(text) : identity.sign(text) };
  }

  /** Notes whether a neighbour takes MACs: it has said so, or it has refused one. */
  noteMacs(neighbour: string, takesMacs: boolean): void {
    this.#takesMacs.set(neighbour, takesMacs);
  }
}

interface ProofCheckerComponents {
  readonly depotKey: (id: string) => VerifySignature | undefined;
  readonly macs: Pick<PairMacs, 'with'>;
  /** Bounds the signatures that turn out to be none. */
  readonly failedChecks: Pick<FailedChecks, 'hasRoomFor' | 'note'>;
  readonly nowMs: () => number;
  readonly mostSeen?: number;
}

/** A proof as it came. */
interface ShownProof {
  readonly text: string;
  /** The address of who shows it. */
  readonly from: string;
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

  /**
   * Gives the caller's id. `caller-not-proved`, `depot-full`, or `signature-checks-spent` where too many
   * signatures from that address were wrong.
   */
  check(
    { text, from }: ShownProof,
    ticket: string,
    chainIndex: number,
    chain: Chain,
    ownPlace: number,
  ): Result<string> {
    const proof = parseProof(text);
    if (!proof.ok) return proof;
    const { depot, timeMs, signature } = proof.value;
    const place = ownPlace - 1;
    if (chain[place] !== depot) return refuse('caller-not-proved', 'another depot comes before this one');
    const now = this.#components.nowMs();
    if (Math.abs(now - timeMs) > SKEW_MS) return refuse('caller-not-proved', 'the clocks differ too much');
    this.#forgetOld(now);
    if (this.#seen.has(signature)) return refuse('caller-not-proved', 'the proof was used before');
    const right = this.#isRight(proof.value, proofText(proof.value, ticket, chainIndex, place), from);
    if (!right.ok) return right;
    if (!this.#room.take(depot, 1)) return refuse('depot-full', 'too many proofs to remember');
    this.#seen.set(signature, { depot, seenAtMs: now });
    return ok(depot);
  }

  #isRight(proof: ConnectProof, text: string, from: string): Result<void> {
    const { depotKey, macs, failedChecks } = this.#components;
    const wrong = () => refuse('caller-not-proved', 'the signature is wrong');
    if (isMac(proof)) {
      // As texts: there is one for each MAC, so that none can be written in another way and played back.
      const [expected, given] = [macs.with(proof.depot)?.(text), proof.signature].map((one) =>
        Buffer.from(one ?? ''),
      );
      const isSame =
        expected !== undefined && given?.length === expected.length && timingSafeEqual(expected, given);
      return isSame ? ok(undefined) : wrong();
    }
    const bytes = decodeBase64url(proof.signature);
    const verify = depotKey(proof.depot);
    if (!bytes || !verify) return wrong();
    if (!failedChecks.hasRoomFor(from)) return refuse('signature-checks-spent');
    if (verify(new TextEncoder().encode(text), bytes)) return ok(undefined);
    failedChecks.note(from);
    return wrong();
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
