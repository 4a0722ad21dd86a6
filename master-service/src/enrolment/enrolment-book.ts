import { type JoinRequest, ok, type Result, refuse } from '@longhaul/shared';
import type { EmitEvent } from '../events.ts';
import type { Fact } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import {
  DEPOT_ENROLLED,
  DEPOT_KEY_REVOKED,
  DEPOT_OWNED,
  ENROLMENT_FACTS,
  JOIN_TOKEN,
  JOIN_TOKEN_REVOKED,
  JOIN_TOKEN_USED,
  keyStart,
  MOST_KEYS_BY_TOKEN,
} from './enrolment-facts.ts';
import type { EnrolmentStore, KeptEnrolment } from './enrolment-store.ts';
import { JoinTokens } from './join-tokens.ts';

/** What could not be written down is tried again so often at most: a disk that is full stays so for a while. */
const SAVE_AGAIN_MS = 60_000;

interface EnrolmentBookInit {
  readonly facts: Facts;
  readonly store: EnrolmentStore;
  readonly emit: EmitEvent;
}

type Enrolled = Fact<(typeof DEPOT_ENROLLED)['schema']['_output']>;

/**
 * Who may be a depot: tokens to join with, the keys of depots that have joined, and keys that were revoked; a
 * replica of facts.
 */
export class EnrolmentBook {
  readonly tokens: JoinTokens;
  readonly #facts: Facts;
  readonly #store: EnrolmentStore;
  readonly #emit: EmitEvent;
  /** Whether what earlier runs have kept is known: to write before that would be to forget it. */
  #isLoaded = false;
  #saving: Promise<void> | undefined;
  /** The last write, done or not. */
  #saved: Promise<void> = Promise.resolve();
  /** Whether that failed. */
  #hasFailed = false;
  /** When it was last tried again, by a clock that is never set. */
  #triedAgainMs = Number.NEGATIVE_INFINITY;
  /** Revoked keys by their age, until another one comes. */
  #revoked: readonly string[] | undefined;
  /**
   * Tokens of which a key was revoked: what a thief has made of it elsewhere, before masters there heard of
   * it, is revoked, too.
   */
  readonly #revokedTokens = new Set<string>();

  constructor({ facts, store, emit }: EnrolmentBookInit) {
    this.#facts = facts;
    this.#store = store;
    this.#emit = emit;
    this.tokens = new JoinTokens({ facts, emit, save: () => this.save() });
    for (const kind of ENROLMENT_FACTS) {
      // What others tell is kept as well: a master that starts alone must not trust again what was revoked.
      facts.store.watch(kind, () => this.#saveAside());
    }
    facts.store.watch(DEPOT_KEY_REVOKED, (now) => {
      this.#revoked = undefined;
      if (now?.value.token !== undefined) this.#revokeAllOf(now.value.token, now.value.depot);
      if (now) this.#spareRevoked(now.value.depot);
    });
    facts.store.watch(DEPOT_ENROLLED, (now) => {
      const token = now?.value.token ?? '';
      const isOver = this.#revokedTokens.has(token) || (now && this.#isCopied(token, now.key));
      if (now && isOver) this.#revokeAllOf(token, now.key);
      if (now) this.#spareRevoked(now.key);
    });
    facts.store.watch(JOIN_TOKEN_USED, (now) => this.#refuseBoth(now?.key));
  }

  /** Reads what earlier runs have kept. Throws `state-damaged`. */
  load(nowMs: number): void {
    // What another one has told stays what that one has told: if each master said all again, there would soon
    // be no room for it.
    this.#facts.recall(this.#store.load(), nowMs);
    this.#isLoaded = true;
  }

  /** The key of a depot that has joined; `undefined` for one that has not. */
  keyOf(depot: string): string | undefined {
    return this.#enrolled(depot)?.value.publicKey;
  }

  isRevoked(publicKey: string): boolean {
    return this.#facts.store.all(DEPOT_KEY_REVOKED, publicKey).length > 0;
  }

  /** Revoked keys, those that were revoked last at the end. */
  revokedKeys(most: number): string[] {
    this.#revoked ??= [
      ...new Set(
        this.#facts.store
          .held(DEPOT_KEY_REVOKED)
          .toSorted((one, other) => one.timeMs - other.timeMs)
          .map(({ key }) => key),
      ),
    ];
    return this.#revoked.slice(-most);
  }

  /** Revokes a depot's key for ever, at all masters and depots; `join-tokens-full`. */
  async revokeKey(depot: string, publicKey: string, nowMs: number): Promise<Result<void>> {
    if (!this.#revoke(depot, publicKey, nowMs)) return refuse('join-tokens-full');
    await this.save();
    return ok(undefined);
  }

  /**
   * Takes a depot's key in, once for each token: `join-token-unknown`, `-used`, `-expired`, `-revoked`,
   * `-elsewhere`, `depot-key-revoked`, `depot-key-mismatch` where the depot has another key and the token is
   * not for it by name, `join-tokens-full`, `depot-registry-full`. The same depot with the same key may ask
   * again: the answer may have been lost.
   */
  async join({ id, publicKey, site, token }: JoinRequest, nowMs: number): Promise<Result<void>> {
    const { store } = this.#facts;
    const made = store.newest(JOIN_TOKEN, token);
    if (!made) return refuse('join-token-unknown');
    if (this.isRevoked(publicKey)) return refuse('depot-key-revoked');
    const users = store.all(JOIN_TOKEN_USED, token);
    const isSame = users.some(({ value }) => value.depot === id && value.publicKey === publicKey);
    if (users.length > 0 && !isSame) return refuse('join-token-used');
    // What it has changed since, by another key for example, stays.
    if (isSame && this.#enrolled(id)) return this.#okWhenSaved();
    if (store.newest(JOIN_TOKEN_REVOKED, token)) return refuse('join-token-revoked');
    if (nowMs - made.timeMs > made.value.lifeMs) return refuse('join-token-expired');
    const isHere = made.value.site === undefined || made.value.site === site;
    if (!isHere || (made.value.depot !== undefined && made.value.depot !== id))
      return refuse('join-token-elsewhere');
    const key = this.keyOf(id) ?? store.newest(DEPOT_OWNED, id)?.value.publicKey;
    if (key !== undefined && key !== publicKey && made.value.depot !== id)
      return refuse('depot-key-mismatch');
    // Who is refused for want of room may come again, with the same token.
    if (!this.#facts.hasRoomFor(DEPOT_ENROLLED, id)) return refuse('depot-registry-full');
    // First of all the token is used: one that nobody remembers as used would be good again and again.
    if (!this.#facts.learn(JOIN_TOKEN_USED, token, { depot: id, publicKey }, nowMs))
      return refuse('join-tokens-full');
    const joined = { atMs: nowMs, byName: made.value.depot === id };
    if (!this.#enrol(id, { publicKey, site, token, joined, earlier: [] }, nowMs))
      return refuse('depot-registry-full');
    this.#emit({ type: 'enrolment', what: 'joined', depot: id, token });
    await this.save();
    return ok(undefined);
  }

  /**
   * Takes another key of a depot that has joined, which may ask again; `depot-not-joined` also where it has
   * had as many keys as may be by one token, `depot-key-revoked`, `depot-registry-full`.
   */
  async renewKey(id: string, publicKey: string, nowMs: number): Promise<Result<void>> {
    const before = this.#enrolled(id);
    if (!before) return refuse('depot-not-joined');
    if (this.isRevoked(publicKey) || this.isRevoked(before.value.publicKey))
      return refuse('depot-key-revoked');
    if (before.value.publicKey === publicKey) return this.#okWhenSaved();
    const { site, token, joined, earlier } = before.value;
    if ((earlier?.length ?? 0) >= MOST_KEYS_BY_TOKEN) return refuse('depot-not-joined', 'too many keys');
    const had = earlier && [...earlier, keyStart(before.value.publicKey)];
    const history = { ...(joined ? { joined } : {}), ...(had ? { earlier: had } : {}) };
    if (!this.#enrol(id, { publicKey, site, token, ...history }, nowMs)) return refuse('depot-registry-full');
    this.#emit({ type: 'enrolment', what: 'key-renewed', depot: id });
    await this.save();
    return ok(undefined);
  }

  /**
   * Writes down what is known now, if that is not being done already; rejects with `state-unusable`. Does
   * nothing before `load` has read what was kept: a master that is ended while it starts leaves that as it
   * is.
   */
  save(): Promise<void> {
    // Facts come many at a time: what has been taken in when the turn ends is one file.
    this.#saving ??= Promise.resolve().then(async () => {
      this.#saving = undefined;
      if (!this.#isLoaded) return;
      try {
        await this.#store.save(this.#kept());
        this.#hasFailed = false;
      } catch (failure) {
        this.#hasFailed = true;
        throw failure;
      }
    });
    this.#saved = this.#saving;
    return this.#saving;
  }

  /**
   * Writes down what could not be written, once a minute at most: nobody asks again for what another master
   * has told. `steadyMs` is by a clock that is never set.
   */
  saveAgain(steadyMs: number): void {
    if (!this.#hasFailed || steadyMs - this.#triedAgainMs < SAVE_AGAIN_MS) return;
    this.#triedAgainMs = steadyMs;
    this.#saveAside();
  }

  #saveAside(): void {
    void this.save().catch((error: unknown) => this.#emit({ type: 'failed', error }));
  }

  /** Who asks again may do so because what he asked for could not be written down: then that is tried again. */
  async #okWhenSaved(): Promise<Result<void>> {
    await this.#saved.catch(() => this.save());
    return ok(undefined);
  }

  #enrolled(depot: string): Enrolled | undefined {
    const facts = this.#facts.store.all(DEPOT_ENROLLED, depot);
    if (facts.length < 2) return facts[0];
    const revoked = (fact: Enrolled) => Number(this.isRevoked(fact.value.publicKey));
    const hasHistories = facts.every(({ value }) => value.joined);
    const rank = (fact: Enrolled) => (hasHistories ? rankOf(fact, facts) : 0);
    return facts.toSorted(
      (one, other) =>
        revoked(one) - revoked(other) ||
        rank(one) - rank(other) ||
        other.value.generation - one.value.generation ||
        (one.value.publicKey < other.value.publicKey ? -1 : 1),
    )[0];
  }

  /**
   * Whether two keys have followed the same one: masters that could not hear each other have taken them from
   * two who had it.
   */
  #isCopied(token: string, depot: string): boolean {
    const facts = this.#facts.store.all(DEPOT_ENROLLED, depot).filter(({ value }) => value.token === token);
    const histories = facts.flatMap(({ value }) =>
      value.earlier ? [[...value.earlier, keyStart(value.publicKey)]] : [],
    );
    const [longest = []] = histories.toSorted((one, other) => other.length - one.length);
    return histories.some((history) => history.some((key, place) => key !== longest[place]));
  }

  #enrol(id: string, key: Omit<Enrolled['value'], 'generation'>, nowMs: number): boolean {
    const generation = (this.#enrolled(id)?.value.generation ?? 0) + 1;
    return this.#facts.learn(DEPOT_ENROLLED, id, { ...key, generation } as Enrolled['value'], nowMs);
  }

  #revoke(depot: string, publicKey: string, nowMs: number): boolean {
    if (this.isRevoked(publicKey)) return true;
    const of = this.#facts.store
      .all(DEPOT_ENROLLED, depot)
      .find(({ value }) => value.publicKey === publicKey);
    const revoked = { depot, ...(of ? { token: of.value.token } : {}) };
    if (!this.#facts.learn(DEPOT_KEY_REVOKED, publicKey, revoked, nowMs)) return false;
    this.#emit({ type: 'enrolment', what: 'revoked', depot });
    return true;
  }

  /** Revokes whatever keys a depot has had by a token. */
  #revokeAllOf(token: string, depot: string): void {
    this.#revokedTokens.add(token);
    for (const { value, timeMs } of this.#facts.store.all(DEPOT_ENROLLED, depot))
      if (value.token === token) this.#revoke(depot, value.publicKey, timeMs);
  }

  /**
   * A depot's keys that are revoked make room for others' where there is none: that they are revoked stays
   * known without them.
   */
  #spareRevoked(depot: string): void {
    const { store } = this.#facts;
    for (const fact of store.all(DEPOT_ENROLLED, depot))
      if (this.isRevoked(fact.value.publicKey)) store.spare(fact);
  }

  /** A token that two have used was copied: nobody can tell which of the two was meant, so neither stays. */
  #refuseBoth(token: string | undefined): void {
    if (token === undefined) return;
    const users = this.#facts.store.all(JOIN_TOKEN_USED, token);
    if (new Set(users.map(({ value }) => value.publicKey)).size < 2) return;
    for (const { value, timeMs } of users) this.#revoke(value.depot, value.publicKey, timeMs);
    for (const { key, value, timeMs } of this.#facts.store.held(DEPOT_ENROLLED)) {
      if (value.token === token) this.#revoke(key, value.publicKey, timeMs);
    }
  }

  #kept(): KeptEnrolment[] {
    const { store } = this.#facts;
    return ENROLMENT_FACTS.flatMap((kind) => {
      const ids = new Set(store.held(kind).map(({ key }) => key));
      const newest = (key: string) =>
        kind === DEPOT_ENROLLED ? this.#enrolled(key) : store.newest(kind, key);
      return [...ids].flatMap((key) => newest(key) ?? []);
    });
  }
}

/**
 * Of keys by several tokens the least one counts. A token that names the depot goes ahead, and of two such
 * the later one. Of others the one that has joined first stays: whoever has a token for any depot takes
 * nobody's place. How many keys have followed says nothing here: a thief may have made many.
 */
function rankOf({ value: { token, joined } }: Enrolled, facts: readonly Enrolled[]): number {
  const sameToken = facts.filter(({ value }) => value.token === token);
  const atMs = Math.min(...sameToken.map(({ value }) => value.joined?.atMs ?? 0));
  return joined?.byName ? -atMs : atMs;
}
