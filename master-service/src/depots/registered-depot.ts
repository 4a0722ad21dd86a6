import {
  ERRORS,
  type ErrorCode,
  type HeartbeatRequest,
  LonghaulError,
  ok,
  plainAddress,
  type RequestStamp,
  type Result,
  refuse,
  type Standing,
} from '@longhaul/shared';
import { DEPOT_OWNED, keyStart } from '../enrolment/enrolment-facts.ts';
import { ReplayGuard } from '../enrolment/replay-guard.ts';
import { type Fact, isYounger, newestOf } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import type { PromisedDownload } from '../planning/plans/promised-download.ts';
import { AddressProof, type ProvedPlace } from './address-proof.ts';
import {
  DEPOT_DOWN,
  DEPOT_HEARD,
  DEPOT_NOT_PROVED,
  DEPOT_PROVED,
  DEPOT_REGISTERED,
  DEPOT_TWINS,
} from './depot-facts.ts';
import type { DepotRecord, KeptDepot, KeptStamp } from './depot-store.ts';
import { countHeard } from './failure-rate.ts';
import { FullLine } from './full-line.ts';
import { PromisedLoad } from './promised-load.ts';

/**
 * `unproved`: heard of, but it has not answered at its address with its key. Only depots that are `up` are
 * planned with.
 */
export type DepotState = 'up' | 'draining' | 'lost' | 'unproved';

/** Heartbeats of another process that make it a second one: a single one may only be late. */
const TWIN_HEARTBEATS = 2;

/** What the last heartbeat said. */
interface Heard {
  /** The process that counts: the one that registered last. */
  readonly process: string;
  readonly heartbeat: number;
  readonly batch?: number | undefined;
  readonly draining: boolean;
  readonly activeTransfers?: number | undefined;
  readonly isMoving?: boolean | undefined;
  readonly entryGroup?: string | undefined;
  readonly uplink?: HeartbeatRequest['uplink'];
}

/** What of a heartbeat is new: nothing, all but reports that were taken before, or all. */
export type News = 'nothing' | 'state' | 'all';

type Place = Omit<DepotRecord, 'id'>;

/** One depot as the facts of all masters have it, and what of its requests has been here. */
export class RegisteredDepot {
  readonly replays = new ReplayGuard();
  readonly #facts: Facts;
  readonly #lostAfterMs: number;
  readonly #counts: (publicKey: string) => boolean;
  readonly #proof = new AddressProof();
  readonly #promised = new PromisedLoad();
  readonly #fullLine = new FullLine();
  #record: DepotRecord;
  /** The key that the id belongs to for good. */
  #owner: string | undefined;
  /** `undefined`: nobody knows when it was heard, so it counts as lost. */
  #heard: Fact<Heard> | undefined;
  #twins: Fact<{ readonly heartbeats: number }> | undefined;
  /** Whether it was found gone since it was heard last. */
  #isDown = false;

  /**
   * A depot that counts as lost when it has not been heard of for `lostAfterMs`. Keys that do not count are
   * as if nobody had registered them.
   */
  constructor(
    record: DepotRecord,
    facts: Facts,
    lostAfterMs: number,
    counts: (publicKey: string) => boolean,
  ) {
    this.#record = record;
    this.#facts = facts;
    this.#lostAfterMs = lostAfterMs;
    this.#counts = counts;
    this.refresh();
  }

  get record(): DepotRecord {
    return this.#record;
  }

  get proof(): AddressProof {
    return this.#proof;
  }

  /** Whether the id belongs to this key for good: it has proved an address once. */
  get isOwned(): boolean {
    return this.#owner === this.#record.publicKey;
  }

  get #keyStart(): string {
    return keyStart(this.#record.publicKey);
  }

  /** What outlives the process. */
  get kept(): KeptDepot {
    const { newest } = this.#proof;
    const { store } = this.#facts;
    const { id, publicKey } = this.#record;
    const isHere = ({ value }: Fact<Place>) => this.#isHere(value);
    const owned = oldestOf(store.all(DEPOT_OWNED, id).filter(({ value }) => value.publicKey === publicKey));
    const registered = newestOf(store.all(DEPOT_REGISTERED, id).filter(isHere));
    const proved = newestOf(store.all(DEPOT_PROVED, id).filter(isHere));
    return {
      ...this.#record,
      ...(newest ? { proof: newest } : {}),
      told: {
        ...(owned ? { owned: stampOf(owned) } : {}),
        ...(registered ? { registered: stampOf(registered) } : {}),
        ...(proved ? { proved: stampOf(proved) } : {}),
      },
    };
  }

  /** When any master has heard it last, by this one's clock. */
  get heardAtMs(): number | undefined {
    return this.#heard?.timeMs;
  }

  isHeard(nowMs: number): boolean {
    return this.#heard !== undefined && nowMs - this.#heard.timeMs <= this.#lostAfterMs;
  }

  state(nowMs: number): DepotState {
    if (!this.isHeard(nowMs) || this.#isDown) return 'lost';
    if (!this.#proof.valid(nowMs)) return 'unproved';
    return this.#heard?.value.draining ? 'draining' : 'up';
  }

  /** Transfers that it served when it was heard last. */
  get activeTransfers(): number {
    return this.#heard?.value.activeTransfers ?? 0;
  }

  /** Whether these carried bytes, or had just begun; `undefined` where it does not say. */
  get isMoving(): boolean | undefined {
    return this.#heard?.value.isMoving;
  }

  /** The entry group whose tickets it serves, as it says. */
  get entryGroup(): string | undefined {
    return this.#heard?.value.entryGroup;
  }

  /**
   * What its line leaves to one more download, bits per second: what nobody uses, or an equal share, which a
   * depot gives to each download that can use it. What plans have promised since it was heard uses it as
   * well. `undefined` where nobody has set a bound, and it was not full of late.
   */
  roomBps(nowMs: number): number | undefined {
    const uplink = this.#heard?.value.uplink;
    const fullBps = this.#fullLine.mostBps(nowMs);
    if (!uplink && fullBps === undefined) return undefined;
    const promised = this.#promised.since(this.heardAtMs ?? 0, nowMs);
    const sharers = this.activeTransfers + promised.downloads + 1;
    // Of a line that was full nobody knows what is free.
    const byFullLine = (fullBps ?? Number.POSITIVE_INFINITY) / sharers;
    if (!uplink) return byFullLine;
    const freeBps = uplink.mostBps - uplink.sentBps - promised.bps;
    return Math.min(byFullLine, Math.max(freeBps, uplink.mostBps / sharers));
  }

  /** Takes note that a plan leads a download over it. */
  notePromised(download: PromisedDownload, nowMs: number): void {
    // Where no bound is known nobody asks what is left.
    if (this.roomBps(nowMs) !== undefined) this.#promised.note(download, nowMs);
  }

  /** Takes note that each of its transfers gets so much, because its line is crowded. */
  noteCrowded(eachBps: number, nowMs: number): void {
    this.#fullLine.note(eachBps, this.activeTransfers, nowMs);
  }

  /** What its uplink carried when it was heard last, bits per second; `undefined` where nobody has set a bound. */
  get sentBps(): number | undefined {
    return this.#heard?.value.uplink?.sentBps;
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

  /** Looks at its facts again, after one of them has changed. */
  refresh(): void {
    const { store } = this.#facts;
    const { id } = this.#record;
    const counts = ({ value }: { value: { publicKey: string } }) => this.#counts(value.publicKey);
    const owners = store.all(DEPOT_OWNED, id).filter(counts);
    // Whoever claims an id that is known to belong to another key comes too late, whatever the clocks say.
    const isOwnedOn = owners.some(({ value }) => value.publicKey === this.#owner);
    if (!isOwnedOn) this.#owner = oldestOf(owners)?.value.publicKey;
    const registrations = store.all(DEPOT_REGISTERED, id).filter(counts);
    const owned = registrations.filter(({ value }) => value.publicKey === this.#owner);
    const registered = newestOf(owned.length > 0 ? owned : registrations)?.value;
    if (registered && !this.#isHere(registered)) this.#record = recordOf(id, registered);
    this.#heard = this.#newestOfKey(store.all(DEPOT_HEARD, id));
    this.#twins = this.#newestOfKey(store.all(DEPOT_TWINS, id));
    const down = this.#newestOfKey(store.all(DEPOT_DOWN, id));
    this.#isDown = down !== undefined && (!this.#heard || isYounger(down, this.#heard));
    const proved = newestOf(store.all(DEPOT_PROVED, id).filter(({ value }) => this.#isHere(value)));
    const failed = newestOf(store.all(DEPOT_NOT_PROVED, id).filter(({ value }) => this.#isHere(value)));
    const isFailure = failed && (!proved || isYounger(failed, proved));
    this.#proof.know(
      proved && {
        provedAtMs: proved.timeMs,
        addresses: proved.value.addresses,
        onlyFamily: proved.value.onlyFamily,
      },
      isFailure ? problemOf(failed.value) : undefined,
    );
  }

  /**
   * Takes in a registration by the same key: this process counts from now on. `true` when the depot has
   * moved; a new address proves nothing yet.
   */
  register(record: DepotRecord, { epoch }: RequestStamp, nowMs: number): boolean {
    const hasMoved = !this.#isHere(record);
    const { id, ...place } = record;
    this.#facts.learn(DEPOT_REGISTERED, id, place, nowMs);
    const heartbeat = epoch === this.#heard?.value.process ? this.#heard.value.heartbeat : 0;
    const batch = this.#takenBatch(epoch);
    this.#learnHeard({ process: epoch, heartbeat, batch, draining: false }, nowMs);
    this.#proof.begin();
    return hasMoved;
  }

  /**
   * Takes in a heartbeat, and says what of it is new. `depot-twice` to another process than the one that
   * counts; `depot-unknown` when that one drains or is not heard of any more, so that this one may register;
   * `depot-registry-full`.
   */
  hear(
    { draining, activeTransfers, isMoving, entryGroup, uplink, batch = 0 }: HeartbeatRequest,
    { epoch, sequence }: RequestStamp,
    nowMs: number,
  ): Result<News> {
    // Where nobody knows which one counts, the first one does.
    const { process, heartbeat } = this.#heard?.value ?? { process: epoch, heartbeat: 0 };
    if (epoch !== process) return this.#hearOther(draining, nowMs);
    if (sequence <= heartbeat) return ok('nothing');
    const taken = this.#takenBatch(process);
    const load = { activeTransfers, isMoving, ...(uplink ? { uplink } : {}) };
    const numbers = { heartbeat: sequence, batch: Math.max(batch, taken) };
    const isLearned = this.#learnHeard({ process, ...numbers, draining, entryGroup, ...load }, nowMs);
    if (!isLearned) return refuse('depot-registry-full');
    return ok(batch === 0 || batch > taken ? 'all' : 'state');
  }

  /**
   * Whether a heartbeat comes from the depot itself, so that it is where its connection comes from: from an
   * address that it has proved, or one that no other master can have heard. What was sent to another master
   * somebody may have recorded, and sends here before that one has told of it.
   */
  comesFrom(address: string, { epoch, sequence }: RequestStamp, nowMs: number): boolean {
    if (this.#proof.valid(nowMs)?.addresses.includes(plainAddress(address))) return true;
    const { store, source } = this.#facts;
    const others = this.#newestOfKey(
      store.all(DEPOT_HEARD, this.#record.id).filter((heard) => heard.source !== source),
    );
    if (others && nowMs - others.timeMs <= this.#lostAfterMs) return false;
    return this.#heard?.value.process !== epoch || sequence > this.#heard.value.heartbeat;
  }

  /** Takes in what came of asking for proof at the address in `record`. */
  noteProof(outcome: Result<ProvedPlace>, nowMs: number): void {
    const { id, ...place } = this.#record;
    this.#proof.noteAsked(outcome.ok, nowMs);
    if (outcome.ok) {
      const { addresses, onlyFamily } = outcome.value;
      this.#facts.learn(DEPOT_PROVED, id, { ...place, addresses: [...addresses], onlyFamily }, nowMs);
      if (!this.isOwned) this.#facts.learn(DEPOT_OWNED, id, { publicKey: place.publicKey }, nowMs);
    } else {
      const { code, detail } = outcome.error;
      const why = detail === undefined ? { code } : { code, detail };
      this.#facts.learn(DEPOT_NOT_PROVED, id, { ...place, ...why }, nowMs);
    }
  }

  /** Takes note that it was not there when it was asked at `askedAtMs`; `false` where it has been heard since. */
  noteDown(askedAtMs: number, nowMs: number): boolean {
    if (!this.#heard || this.#heard.timeMs > askedAtMs) return false;
    const { id } = this.#record;
    this.#facts.learn(
      DEPOT_DOWN,
      id,
      { keyStart: this.#keyStart, process: this.#heard.value.process },
      nowMs,
    );
    return true;
  }

  #learnHeard(heard: Heard, nowMs: number): boolean {
    const { id } = this.#record;
    const upTime = countHeard(this.#facts, id, this.#lostAfterMs, nowMs);
    return this.#facts.learn(DEPOT_HEARD, id, { keyStart: this.#keyStart, ...heard, ...upTime }, nowMs);
  }

  /** Number of the newest batch of reports that any master has taken from a process; 0 where there was none. */
  #takenBatch(process: string): number {
    const said = this.#ofKey(this.#facts.store.all(DEPOT_HEARD, this.#record.id));
    return Math.max(0, ...said.map(({ value }) => (value.process === process ? (value.batch ?? 0) : 0)));
  }

  #hearOther(isDraining: boolean, nowMs: number): Result<News> {
    // The process before a restart may serve its last transfers for a while.
    if (isDraining) return ok('nothing');
    if (this.#heard?.value.draining || !this.isHeard(nowMs) || this.#isDown) return refuse('depot-unknown');
    const before = this.#twinsHeard(nowMs);
    const { id } = this.#record;
    this.#facts.learn(DEPOT_TWINS, id, { keyStart: this.#keyStart, heartbeats: before + 1 }, nowMs);
    return refuse('depot-twice');
  }

  #twinsHeard(nowMs: number): number {
    const isRecent = this.#twins && Math.abs(nowMs - this.#twins.timeMs) <= this.#lostAfterMs;
    return isRecent ? (this.#twins?.value.heartbeats ?? 0) : 0;
  }

  #problem(nowMs: number): LonghaulError | undefined {
    return this.#twinsHeard(nowMs) >= TWIN_HEARTBEATS
      ? new LonghaulError('depot-twice')
      : this.#proof.problem;
  }

  /** The newest of what is said of the depot with this key. */
  #newestOfKey<Value extends { readonly keyStart?: string | undefined }>(
    facts: readonly Fact<Value>[],
  ): Fact<Value> | undefined {
    return newestOf(this.#ofKey(facts));
  }

  /** What is said of the depot with this key. */
  #ofKey<Value extends { readonly keyStart?: string | undefined }>(
    facts: readonly Fact<Value>[],
  ): Fact<Value>[] {
    const own = this.#keyStart;
    return facts.filter(({ value }) => (value.keyStart ?? own) === own);
  }

  /** Whether this is where the depot is registered, with its key. */
  #isHere(place: Place): boolean {
    const { publicKey, host, port, tls } = this.#record;
    return place.publicKey === publicKey && place.host === host && place.port === port && place.tls === tls;
  }
}

function oldestOf<Value>(facts: readonly Fact<Value>[]): Fact<Value> | undefined {
  return facts.toSorted((one, other) => (isYounger(one, other) ? 1 : -1))[0];
}

function stampOf({ source, epoch, sequence, timeMs }: Fact): KeptStamp {
  return { source, epoch, sequence, timeMs };
}

function recordOf(id: string, { publicKey, host, port, tls }: Place): DepotRecord {
  return { id, publicKey, host, port, tls };
}

/** A newer master may know a code that this one does not. */
function problemOf({ code, detail }: { code: string; detail?: string | undefined }): LonghaulError {
  return new LonghaulError(isErrorCode(code) ? code : 'internal', detail === undefined ? {} : { detail });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
