import {
  type AddressFamily,
  type AddressPolicy,
  type Authority,
  type Chain,
  canonicalHost,
  type DepotEntry,
  type ErrorCode,
  type HeartbeatRequest,
  isAddressLiteral,
  isEnd,
  LOST_AFTER_HEARTBEATS,
  ok,
  type RegisterRequest,
  type RequestStamp,
  type Result,
  refuse,
  refuseOverlayAddress,
  type Standing,
} from '@longhaul/shared';
import type { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import { DEPOT_ENROLLED, DEPOT_KEY_REVOKED, DEPOT_OWNED, MAX_DEPOTS } from '../enrolment/enrolment-facts.ts';
import { type Fact, newestOf } from '../facts/fact.ts';
import type { Facts, KeptFact } from '../facts/facts.ts';
import type { PromisedDownload } from '../planning/plans/promised-download.ts';
import type { ProvedPlace } from './address-proof.ts';
import { DEPOT_FACTS, DEPOT_HEARD, DEPOT_PROVED, DEPOT_REGISTERED } from './depot-facts.ts';
import type { DepotRecord, DepotStore, KeptDepot } from './depot-store.ts';
import { FailureRate } from './failure-rate.ts';
import { type DepotState, type News, RegisteredDepot } from './registered-depot.ts';

/**
 * Depots that are known, those that other masters have taken in among them: two masters that cannot hear each
 * other may each have as many as it takes.
 */
const MOST_KNOWN = 2_000;

/** Facts that say which key a depot has. */
const KEYED_FACTS = [DEPOT_OWNED, DEPOT_REGISTERED, DEPOT_PROVED] as const;

/** One depot with what counts of it now. */
export interface DepotView extends DepotRecord {
  readonly state: DepotState;
  /** Transfers that it served when it was heard last. */
  readonly activeTransfers: number;
  /** Whether these carried bytes, or had just begun; left out where it does not say. */
  readonly isMoving?: boolean;
  /** The entry group whose tickets it serves, as it says. */
  readonly entryGroup: string | undefined;
  /**
   * Clients that have not this family cannot reach it; left out where either one does, where they come by a
   * group's name, or nobody knows.
   */
  readonly onlyFamily?: AddressFamily;
  /**
   * What its line leaves to one more download, bits per second; left out where nobody has set a bound, and it
   * was not full of late.
   */
  readonly roomBps?: number;
  /** What its uplink carried when it was heard last, bits per second; left out where nobody has set a bound. */
  readonly sentBps?: number;
  /** How long ago any master has heard it last, by this one's clock; left out where nobody knows. */
  readonly heardAgoMs?: number;
  /** What its operator should look at. */
  readonly problem: ErrorCode | undefined;
}

/** Whose key counts. */
type Enrolment = Pick<EnrolmentBook, 'keyOf' | 'isRevoked'>;

interface DepotRegistryInit {
  readonly facts: Facts;
  readonly enrolment: Enrolment;
  readonly store: DepotStore;
  readonly heartbeatSeconds: number;
  readonly addresses: AddressPolicy;
  /** Told when another master says that a depot has another key than the one that counts: that is not believed. */
  readonly onClaimed?: (depot: string, from: string) => void;
}

/** All registered depots: a replica of the facts about them, and the rules by which this master takes new ones in. */
export class DepotRegistry {
  /** How often depots shall be heard. */
  readonly heartbeatSeconds: number;
  /** A depot that was not heard for so long is gone. */
  readonly lostAfterMs: number;
  readonly #facts: Facts;
  readonly #enrolment: Enrolment;
  readonly #store: DepotStore;
  readonly #policy: AddressPolicy;
  readonly #depots = new Map<string, RegisteredDepot>();
  /** The same by id, until one comes or goes. */
  #order: readonly RegisteredDepot[] | undefined;
  readonly #failures: FailureRate;
  /** Depots of which a key was revoked before this master had read what it knew of them. */
  #revokedBefore: Set<string> | undefined = new Set();

  constructor({ facts, enrolment, store, heartbeatSeconds, addresses, onClaimed }: DepotRegistryInit) {
    this.#facts = facts;
    this.#enrolment = enrolment;
    this.#store = store;
    this.#policy = addresses;
    this.heartbeatSeconds = heartbeatSeconds;
    this.lostAfterMs = LOST_AFTER_HEARTBEATS * heartbeatSeconds * 1000;
    this.#failures = new FailureRate(facts);
    for (const kind of DEPOT_FACTS) {
      facts.store.watch(kind, (now, before) => this.#refresh((now ?? before)?.key ?? ''));
    }
    for (const kind of KEYED_FACTS) {
      facts.store.watch(kind, (now) => {
        if (now && this.#isClaim(now)) onClaimed?.(now.key, now.source);
        // Others may not have heard of that yet, and tell it again.
        if (now && enrolment.isRevoked(now.value.publicKey)) facts.store.spare(now);
      });
    }
    facts.store.watch(DEPOT_ENROLLED, (now, before) => this.#refresh((now ?? before)?.key ?? ''));
    facts.store.watch(DEPOT_KEY_REVOKED, (now) => {
      if (!now) return;
      const revoked = [...this.#depots.values()].filter(({ record }) => record.publicKey === now.key);
      for (const id of new Set([...revoked.map(({ record }) => record.id), now.value.depot])) {
        this.#refresh(id);
        // Before all of the file is read nobody knows under which key it has come back.
        if (this.#revokedBefore) this.#revokedBefore.add(id);
        else this.#giveBack(id);
      }
    });
  }

  /** Reads what earlier runs have kept, for ever. */
  async load(nowMs: number): Promise<void> {
    const depots = await this.#store.load();
    const kept = depots
      // What a file of facts has said already is newer.
      .filter(
        ({ id, publicKey }) =>
          !this.#enrolment.isRevoked(publicKey) && !this.#facts.store.newest(DEPOT_OWNED, id),
      )
      .flatMap(factsOf);
    this.#facts.recall(kept, nowMs);
    const revoked = this.#revokedBefore ?? [];
    this.#revokedBefore = undefined;
    for (const id of revoked) this.#giveBack(id);
  }

  /**
   * Adds a depot or changes its address; `depot-key-mismatch` when its id belongs to another key,
   * `depot-key-revoked`, `depot-address-not-allowed` where no depot may be, `request-replayed` when the
   * registration was here before, `depot-registry-full`.
   */
  async register(request: RegisterRequest, stamp: RequestStamp, nowMs: number): Promise<Result<void>> {
    const checked = this.check(request, nowMs);
    if (!checked.ok) return checked;
    const record = checked.value;
    const known = this.#depots.get(record.id);
    const depot = known?.record.publicKey === record.publicKey ? known : this.#depotOf(record);
    if (!depot.replays.take(stamp, nowMs)) return refuse('request-replayed');
    // Else it would be registered and never be `up`, and nobody would know.
    if (!this.#makeRoom(record.id, nowMs)) return refuse('depot-registry-full');
    this.#keep(depot);
    const hasMoved = depot.register(record, stamp, nowMs);
    if (hasMoved) await this.#save();
    return ok(undefined);
  }

  /** What a registration says, if it would be taken; with the codes of `register`. */
  check({ id, publicKey, host: hostText, port, tls }: RegisterRequest, nowMs: number): Result<DepotRecord> {
    if (isEnd(id)) return refuse('bad-request', `${id} cannot be a depot's id`);
    const host = canonicalHost(hostText);
    if (!host.ok) return refuse('bad-request', 'host is not valid');
    // A name's addresses are looked at when it is asked for proof.
    const isLiteral = isAddressLiteral(host.value);
    const refusal = isLiteral ? refuseOverlayAddress(host.value, port, this.#policy) : undefined;
    if (refusal) return refuse(refusal);
    if (this.#enrolment.isRevoked(publicKey)) return refuse('depot-key-revoked');
    const known = this.#depots.get(id);
    const enrolled = this.#enrolment.keyOf(id);
    // An id belongs to the key that has joined with a token; to one that has proved an address; before that,
    // to one that is heard of.
    const isOthers = known && known.record.publicKey !== publicKey && (known.isOwned || known.isHeard(nowMs));
    if (enrolled === undefined ? isOthers : enrolled !== publicKey) return refuse('depot-key-mismatch');
    const hasRoom = this.#hasRoomFor(id) || this.#findGone(id, nowMs) !== undefined;
    return hasRoom ? ok({ id, publicKey, host: host.value, port, tls }) : refuse('depot-registry-full');
  }

  /** Admits an authenticated request of a registered depot; `request-replayed` when it was here before. */
  admit(id: string, stamp: RequestStamp, nowMs: number): Result<void> {
    const isNew = this.#depots.get(id)?.replays.take(stamp, nowMs) ?? false;
    return isNew ? ok(undefined) : refuse('request-replayed');
  }

  /** Takes in a heartbeat, and says what of it is new. `depot-twice`, `depot-unknown`, `depot-registry-full`. */
  hear(id: string, heartbeat: HeartbeatRequest, stamp: RequestStamp, nowMs: number): Result<News> {
    return this.#depots.get(id)?.hear(heartbeat, stamp, nowMs) ?? refuse('depot-unknown');
  }

  /** Takes note that a plan leads a download over a chain. */
  notePromised(chain: Chain, download: PromisedDownload, nowMs: number): void {
    for (const id of chain) this.#depots.get(id)?.notePromised(download, nowMs);
  }

  /** Takes note that each transfer of a depot gets so much, because its line is crowded. */
  noteCrowded(id: string, eachBps: number, nowMs: number): void {
    this.#depots.get(id)?.noteCrowded(eachBps, nowMs);
  }

  /**
   * Whether a heartbeat that is not taken in yet shows that its depot, which owns its id, is at the address
   * that it comes from.
   */
  comesFrom(id: string, address: string, stamp: RequestStamp, nowMs: number): boolean {
    const depot = this.#depots.get(id);
    return depot !== undefined && depot.isOwned && depot.comesFrom(address, stamp, nowMs);
  }

  /** How often one of these depots fails. */
  get failuresPerSecond(): number {
    return this.#failures.perSecond;
  }

  /** What is to be proved of a depot now; `undefined` when nothing is. */
  dueProof(id: string, nowMs: number): DepotRecord | undefined {
    const depot = this.#depots.get(id);
    return depot?.proof.isDue(nowMs) ? depot.record : undefined;
  }

  /** Takes in what came of asking at the address in `record`, unless the depot has moved meanwhile. */
  async noteProof(record: DepotRecord, outcome: Result<ProvedPlace>, nowMs: number): Promise<void> {
    const depot = this.#depots.get(record.id);
    if (depot?.record !== record) return;
    depot.noteProof(outcome, nowMs);
    if (outcome.ok) await this.#save();
  }

  /** Where a depot that is planned with can be asked whether it is still there. */
  whereUp(id: string, nowMs: number): { record: DepotRecord; addresses: readonly string[] } | undefined {
    const depot = this.#depots.get(id);
    if (depot?.state(nowMs) !== 'up') return undefined;
    const proved = depot.proof.valid(nowMs);
    return proved && { record: depot.record, addresses: proved.addresses };
  }

  /**
   * Takes note that a depot was not where `record` says when it was asked at `askedAtMs`: it counts as lost
   * until it is heard again. `false` where it has moved or was heard meanwhile.
   */
  noteDown(record: DepotRecord, askedAtMs: number, nowMs: number): boolean {
    const depot = this.#depots.get(record.id);
    return depot?.record === record && depot.noteDown(askedAtMs, nowMs);
  }

  record(id: string): DepotRecord | undefined {
    return this.#depots.get(id)?.record;
  }

  /** The depot with its state now; `undefined` for an id that is not registered. */
  view(id: string, nowMs: number): DepotView | undefined {
    const depot = this.#depots.get(id);
    return depot && viewOf(depot, nowMs);
  }

  /** Whether chains may pass this depot. */
  isUp(id: string, nowMs: number): boolean {
    return this.#depots.get(id)?.state(nowMs) === 'up';
  }

  /** All depots with their states, ordered by id. */
  views(nowMs: number): DepotView[] {
    return this.#sorted().map((depot) => viewOf(depot, nowMs));
  }

  /** What a depot that has just been heard is told of itself. */
  standing(id: string, nowMs: number): Standing {
    return this.#depots.get(id)?.standing(nowMs) ?? { state: 'unproved' };
  }

  /** What depots are told of each other: those whose addresses are proved. */
  directory(nowMs: number): DepotEntry[] {
    return this.#sorted().flatMap((depot) => {
      const state = depot.state(nowMs);
      const proved = depot.proof.valid(nowMs);
      if (!proved || state === 'unproved') return [];
      return [{ ...depot.record, addresses: [...proved.addresses], state }];
    });
  }

  /** Where a depot has proved to be; `undefined` where nothing is proved now. */
  provedAddress(id: string, nowMs: number): string | undefined {
    return this.#depots.get(id)?.proof.valid(nowMs)?.addresses[0];
  }

  /** Where the overlay is, as its depots have proved: by the names they are registered with, and by address. */
  places(nowMs: number): Authority[] {
    return [...this.#depots.values()].flatMap(({ record: { host, port }, proof }) => {
      const proved = proof.valid(nowMs);
      return proved ? [host, ...proved.addresses].map((name) => ({ host: name, port })) : [];
    });
  }

  /** Forgets depots that were never there until there is room for one; `false` where that is not enough. */
  #makeRoom(id: string, nowMs: number): boolean {
    while (!this.#hasRoomFor(id)) {
      const gone = this.#findGone(id, nowMs);
      if (!gone) return false;
      this.#forget(gone.record.id);
    }
    return true;
  }

  /** Whether a depot is known or may be, with all that this master has to say of it. */
  #hasRoomFor(id: string): boolean {
    const known = this.#depots.get(id);
    if (!known && this.#depots.size >= MAX_DEPOTS) return false;
    // Whose it is nobody says again.
    const owned = known?.isOwned ? [] : [DEPOT_OWNED];
    const kinds = [DEPOT_REGISTERED, DEPOT_PROVED, DEPOT_HEARD, ...owned];
    return kinds.every((kind) => this.#facts.hasRoomFor(kind, id));
  }

  #forget(id: string): void {
    for (const kind of DEPOT_FACTS) this.#facts.store.forget(kind, id);
    this.#depots.delete(id);
    this.#order = undefined;
  }

  #keep(depot: RegisteredDepot): void {
    this.#depots.set(depot.record.id, depot);
    this.#order = undefined;
  }

  /** Keeps a depot as its facts are now; one without a registration is none. */
  #refresh(id: string): void {
    const depot = this.#depots.get(id);
    depot?.refresh();
    if (depot && !this.#counts(id, depot.record.publicKey)) {
      this.#depots.delete(id);
      this.#order = undefined;
    }
    if (this.#depots.has(id) || this.#depots.size >= MOST_KNOWN) return;
    const registrations = this.#facts.store
      .all(DEPOT_REGISTERED, id)
      .filter(({ value }) => this.#counts(id, value.publicKey));
    const registered = newestOf(registrations);
    if (!registered) return;
    const { publicKey, host, port, tls } = registered.value;
    this.#keep(this.#depotOf({ id, publicKey, host, port, tls }));
  }

  #depotOf(record: DepotRecord): RegisteredDepot {
    const counts = (publicKey: string) => this.#counts(record.id, publicKey);
    return new RegisteredDepot(record, this.#facts, this.lostAfterMs, counts);
  }

  /** Whether a depot may have this key: it is not revoked, and where one has joined it is that one. */
  #counts(id: string, publicKey: string): boolean {
    return (this.#enrolment.keyOf(id) ?? publicKey) === publicKey && !this.#enrolment.isRevoked(publicKey);
  }

  /** Lets others have the name and the room of a depot that has no key left. */
  #giveBack(id: string): void {
    if (!this.#hasKey(id)) this.#forget(id);
  }

  /** Whether anybody says of a depot that it has a key that counts. */
  #hasKey(id: string): boolean {
    return KEYED_FACTS.some((kind) =>
      this.#facts.store.all(kind, id).some(({ value }) => this.#counts(id, value.publicKey)),
    );
  }

  /** Whether a fact says that a depot has another key than the one that its id belongs to. */
  #isClaim({ key: id, source, value: { publicKey } }: Fact<{ readonly publicKey: string }>): boolean {
    const depot = this.#depots.get(id);
    const owner = this.#enrolment.keyOf(id) ?? (depot?.isOwned ? depot.record.publicKey : undefined);
    return source !== this.#facts.source && owner !== undefined && owner !== publicKey;
  }

  /** A depot that was never there and is not heard of, other than this one. */
  #findGone(than: string, nowMs: number): RegisteredDepot | undefined {
    return [...this.#depots.values()].find(
      (depot) => depot.record.id !== than && !depot.isOwned && !depot.isHeard(nowMs),
    );
  }

  /** Keeps who has proved an address once; the others have nothing that is worth it. */
  async #save(): Promise<void> {
    await this.#store.save(this.#sorted().flatMap((depot) => (depot.isOwned ? [depot.kept] : [])));
  }

  #sorted(): readonly RegisteredDepot[] {
    this.#order ??= [...this.#depots.values()].toSorted((one, other) =>
      one.record.id < other.record.id ? -1 : 1,
    );
    return this.#order;
  }
}

/** What a depot in the file says, under the stamps that it was told under. */
function factsOf({ id: key, publicKey, host, port, tls, proof, told }: KeptDepot): KeptFact[] {
  const timeMs = proof?.provedAtMs ?? 0;
  const record = { publicKey, host, port, tls };
  return [
    { kind: DEPOT_OWNED.name, key, value: { publicKey }, timeMs, ...told?.owned },
    { kind: DEPOT_REGISTERED.name, key, value: record, timeMs, ...told?.registered },
    ...(proof
      ? [
          {
            kind: DEPOT_PROVED.name,
            key,
            value: { ...record, addresses: [...proof.addresses], onlyFamily: proof.onlyFamily },
            timeMs,
            ...told?.proved,
          },
        ]
      : []),
  ];
}

function viewOf(depot: RegisteredDepot, nowMs: number): DepotView {
  const { record, activeTransfers, isMoving, entryGroup, sentBps, heardAtMs } = depot;
  const roomBps = depot.roomBps(nowMs);
  const heard = heardAtMs === undefined ? {} : { heardAgoMs: nowMs - heardAtMs };
  // Where a group's name leads to nobody has proved.
  const onlyFamily = entryGroup === undefined ? depot.proof.valid(nowMs)?.onlyFamily : undefined;
  return {
    ...record,
    state: depot.state(nowMs),
    activeTransfers,
    ...(isMoving === undefined ? {} : { isMoving }),
    entryGroup,
    ...(onlyFamily ? { onlyFamily } : {}),
    ...(roomBps === undefined ? {} : { roomBps }),
    ...(sentBps === undefined ? {} : { sentBps }),
    ...heard,
    problem: depot.problemCode(nowMs),
  };
}
