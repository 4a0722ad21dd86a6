import type { MasterKey } from '@longhaul/shared';
import { type VerifySignature, verifierFor } from '@longhaul/shared/service';
import * as z from 'zod';
import type { Fact, FactKind } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import { keyIdOf } from './signing-key.ts';

/** Masters of one overlay: one for each site. */
const MOST_MASTERS = 256;
/** Keys of one master: the one that signs, the next one, and some before. */
export const MOST_KEYS = 8;
/**
 * A master that says nothing more is known for so long, and its keys count: as long as a ticket may live, and
 * a day, by which its clock may be wrong. What says it is kept by all others, so this is also how long one
 * that has gone is trusted.
 */
const MASTER_LIFE_MS = 8 * 86_400_000;
/** A master says again so often where it is, and its keys, also while nothing changes. */
const SAY_AGAIN_MS = 3_600_000;

const text = z.string().min(1).max(300);

/**
 * Where a master is reached, and the keys that it signs tickets with; one for each master, by its name among
 * the sources.
 */
const MASTER_HERE = {
  name: 'master-here',
  schema: z.looseObject({
    url: text,
    keys: z.array(z.looseObject({ keyId: text, publicKey: text })).max(MOST_KEYS),
  }),
  keys: /^[A-Za-z0-9._-]{1,64}$/,
  most: MOST_MASTERS,
  whenFull: 'refuse',
  lifeMs: MASTER_LIFE_MS,
  // A master that starts while it hears nobody tells its depots of all that there are, or they would refuse
  // the others' tickets.
  isKept: true,
} satisfies FactKind<unknown>;

export const MASTER_FACTS = [MASTER_HERE];

type MasterFact = Fact<z.output<(typeof MASTER_HERE)['schema']>>;

/** Which masters there are: where depots reach them, and by which keys their tickets are known. */
export class KnownMasters {
  readonly #facts: Facts;
  /** This one first, then by name. */
  #masters: readonly MasterFact[] = [];
  #keys: readonly MasterKey[] = [];
  /** By key id, which two keys never share; those of keys that have gone are gone, too. */
  #verifiers = new Map<string, VerifySignature>();

  constructor(facts: Facts) {
    this.#facts = facts;
    facts.store.watch(MASTER_HERE, () => {
      this.#masters = this.#sorted();
      // A key by the id of another one would keep that one's tickets from being known.
      const told = this.#masters.flatMap(({ value }) => value.keys);
      this.#keys = told
        .filter(({ keyId, publicKey }) => keyId === keyIdOf(publicKey))
        .map(({ keyId, publicKey }) => ({ keyId, publicKey }));
      this.#verifiers = this.#verifiersOf(this.#keys);
    });
  }

  /** Tells of this master. */
  announce(url: string, keys: readonly MasterKey[], nowMs: number): void {
    const { source } = this.#facts;
    this.#forgetOtherNames(keys);
    this.#facts.learn(MASTER_HERE, source, { url, keys: [...keys] }, nowMs);
  }

  /** Tells again what `announce` told, where that is long ago: others forget a master that says nothing. */
  sayAgain(nowMs: number): void {
    const { source, epoch } = this.#facts;
    const told = this.#facts.own(MASTER_HERE, source);
    // What an earlier process told may have come back from its file, with keys that count no longer.
    if (told?.epoch !== epoch || nowMs - told.timeMs < SAY_AGAIN_MS) return;
    this.#facts.learn(MASTER_HERE, source, told.value, nowMs);
  }

  keys(): readonly MasterKey[] {
    return this.#keys;
  }

  /** What knows the tickets of a key again, whichever master's it is. */
  verifier(keyId: string): VerifySignature | undefined {
    return this.#verifiers.get(keyId);
  }

  /** Public base URLs. */
  urls(): string[] {
    return this.#masters.map(({ value }) => value.url);
  }

  /** Forgets what this master said by another name, before its site had this one: nobody else has its keys. */
  #forgetOtherNames(keys: readonly MasterKey[]): void {
    const { store, source } = this.#facts;
    const own = new Set(keys.map(({ keyId }) => keyId));
    for (const fact of store.held(MASTER_HERE)) {
      const isOwn = fact.source !== source && fact.value.keys.some(({ keyId }) => own.has(keyId));
      if (isOwn) store.forget(MASTER_HERE, fact.key, fact.source);
    }
  }

  #verifiersOf(keys: readonly MasterKey[]): Map<string, VerifySignature> {
    const verifiers = new Map<string, VerifySignature>();
    for (const { keyId, publicKey } of keys) {
      const verify = this.#verifiers.get(keyId) ?? verifierFor(publicKey);
      if (verify) verifiers.set(keyId, verify);
    }
    return verifiers;
  }

  #sorted(): readonly MasterFact[] {
    const { store, source } = this.#facts;
    const rank = (fact: MasterFact) => (fact.source === source ? '' : fact.source);
    // Each master speaks for itself only.
    const speakers = store.held(MASTER_HERE).filter((fact) => fact.key === fact.source);
    return speakers.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  }
}
