import {
  type ClientReport,
  type Directory,
  type ErrorCode,
  type HeartbeatRequest,
  type JobReport,
  type LinkReport,
  type LinkTest,
  LOST_AFTER_HEARTBEATS,
  LonghaulError,
  MAX_UNREACHED,
  type OriginProbe,
  type OriginReach,
  type OriginReport,
  type RegisterRequest,
} from '@longhaul/shared';
import { type OwnEntryGroup, whyGroupDiffers } from './entry-group.ts';
import type { MasterClient } from './master-client.ts';
import { Measurements } from './measurements.ts';

/** Unknown keys in tickets make a depot ask its master again, at most this often; unknown depots likewise. */
const REFETCH_INTERVAL_MS = 30_000;
/** The master is told at once that a depot cannot be reached, of each depot at most so often. */
const SAY_UNREACHED_MS = 2_000;
/** Depots of which it is remembered when they were named: as many as an overlay has. */
const MOST_SAID = 1_000;
/**
 * Between the first two heartbeats; twice as long between the next two, until they are as far apart as is
 * configured.
 */
const FIRST_BEAT_MS = 1_000;
/** A master that wants to hear of its depots more often than this is set up wrongly: nobody hurries for it. */
const SHORTEST_WANTED_MS = 1_000;

/** Failures that the next heartbeat may not have: the master counts on, for a while. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'master-unreachable',
  'master-busy',
  'bad-request',
  'internal',
]);

/** What masters say to a key that counts no longer. */
const OF_ANOTHER_KEY: ReadonlySet<ErrorCode> = new Set([
  'depot-not-joined',
  'depot-signature-wrong',
  'depot-key-mismatch',
]);

/** What a master asks a depot to measure now: a link, and how far an origin is. */
export interface MasterOrders {
  readonly test: LinkTest | undefined;
  readonly probe: OriginProbe | undefined;
}

/** How this depot stands with its master. */
export interface MembershipState {
  /** Whether plans may name it: it is registered, and the master has found it at its address. */
  readonly isMember: boolean;
  /** What its operator should look at: a code with its sentence. */
  readonly problem: { readonly code: string; readonly message: string } | undefined;
}

interface MembershipComponents {
  readonly client: MasterClient;
  readonly self: () => Pick<RegisterRequest, 'host' | 'port' | 'tls'>;
  /** Whether the key that this depot has on disk is another one by now than it signs with. */
  readonly isKeyRotated: () => boolean;
  /** Longest time between two heartbeats; a master may want to hear of this depot more often. */
  readonly heartbeatMs: number;
  readonly activeTransfers: () => number;
  /** Whether these carry bytes, or have just begun. */
  readonly isMoving: () => boolean;
  readonly entryGroup: OwnEntryGroup | undefined;
  /** What the uplink carries and can carry; left out where that is not bounded. */
  readonly uplink?: (() => NonNullable<HeartbeatRequest['uplink']>) | undefined;
  /** What the connections to other depots told since the last call. */
  readonly takeLinkReports: () => readonly LinkReport[];
  /** What the connections to clients told since the last call, by their networks. */
  readonly takeClientReports: () => readonly ClientReport[];
  /** What the connections from origins showed since the last call. */
  readonly takeOriginReports: () => readonly OriginReport[];
  /** What there is to tell of origins that cannot be connected to. */
  readonly originReach: {
    readonly untold: () => readonly OriginReach[];
    /** Called with what a master has answered to. */
    readonly noteTold: (told: readonly OriginReach[]) => void;
    /** Called where what could not be reached may be this depot's own fault. */
    readonly doubt: () => void;
  };
  readonly onDirectory: (directory: Directory) => Promise<void>;
  /** Called after each heartbeat that was answered, with what the master asks to be measured. */
  readonly onHeard: (orders: MasterOrders) => void;
  /** Called when a master has answered that no master had before. */
  readonly onBack: () => void;
  readonly onFailure: (failure: LonghaulError) => void;
  /** Called when the state, or the code of its problem, has changed. */
  readonly onState: (state: MembershipState) => void;
  readonly nowMs: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
}

/** Keeps a depot registered with its master, and its knowledge of the overlay fresh. */
export class Membership {
  readonly #components: MembershipComponents;
  readonly #measurements = new Measurements();
  #state: MembershipState = { isMember: false, problem: undefined };
  /** By the steady clock. */
  #heardAtMs = Number.NEGATIVE_INFINITY;
  /** How often the master wants to hear of this depot, as far as it has said so. */
  #wantedMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #registered = false;
  /** Whether the master means the same by its entry group, as far as it has said. */
  #isGroupSame = true;
  #draining = false;
  #stopped = false;
  /** Whether no master could be reached at the last try: this depot's own network may be away. */
  #isAlone = false;
  readonly #lastRefetchMs = {
    key: Number.NEGATIVE_INFINITY,
    depot: Number.NEGATIVE_INFINITY,
    caller: Number.NEGATIVE_INFINITY,
  };
  #running: Promise<void> | undefined;
  /** Depots that could not be reached, until the master has been told. */
  readonly #unreached = new Set<string>();
  /** Depots that the master was told of as not reached, and has to hear of when they are. */
  readonly #away = new Set<string>();
  /** Of these, those that were reached, until the master has been told. */
  readonly #reached = new Set<string>();
  /** When each was named last. */
  readonly #saidUnreachedMs = new Map<string, number>();

  constructor(components: MembershipComponents) {
    this.#components = components;
  }

  get state(): MembershipState {
    return this.#state;
  }

  /**
   * Registers, then beats until `stop`. A master that cannot be reached is an event, not an error: it is
   * asked again.
   */
  async start(): Promise<void> {
    await this.beat();
    this.#beatAfter(FIRST_BEAT_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * At first more often: in an overlay that has just been started depots hear of each other, and what is to
   * be measured.
   */
  #beatAfter(ms: number): void {
    if (this.#stopped) return;
    const afterMs = Math.min(ms, this.#heartbeatMs);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.beat();
      this.#beatAfter(2 * afterMs);
    }, afterMs);
  }

  get #heartbeatMs(): number {
    const { heartbeatMs } = this.#components;
    return this.#wantedMs === undefined
      ? heartbeatMs
      : Math.min(heartbeatMs, Math.max(this.#wantedMs, SHORTEST_WANTED_MS));
  }

  /** A depot that beats as seldom as it is configured may be lost to a master that is configured otherwise. */
  #noteWanted(seconds: number | undefined): void {
    const beforeMs = this.#heartbeatMs;
    this.#wantedMs = seconds === undefined ? undefined : seconds * 1000;
    // The next one may be far away.
    if (this.#timer && this.#heartbeatMs < beforeMs) this.#beatAfter(this.#heartbeatMs);
  }

  /** Tells the master that this depot takes nothing new. */
  async drain(): Promise<void> {
    this.#draining = true;
    // An exchange that runs now may have been put together before.
    await this.#running;
    if (this.#registered) await this.beat();
    this.#components.client.close();
  }

  /** One exchange with the master, now; never rejects. Calls that overlap share one exchange. */
  beat(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Tells the master now what has just been measured. An exchange that runs may have been put together before. */
  async tell(): Promise<void> {
    await this.#running;
    if (!this.#stopped) await this.beat();
  }

  /**
   * Asks the master again because a ticket's key, a depot in a verified ticket, or a depot that somebody says to be is
   * unknown; does nothing if it did so lately. Keys and callers have allowances of their own: anybody can invent one.
   */
  async refetch(unknown: 'key' | 'depot' | 'caller'): Promise<void> {
    const now = this.#components.nowMs();
    // The clock may have been set back.
    if (Math.abs(now - this.#lastRefetchMs[unknown]) < REFETCH_INTERVAL_MS) return this.#running;
    this.#lastRefetchMs[unknown] = now;
    await this.beat();
  }

  /** Notes the round-trip time of a new connection to another depot. */
  noteRtt(depot: string, rttMs: number): void {
    this.#measurements.noteLink({ to: depot, rttMs });
    this.#unreached.delete(depot);
    if (!this.#away.delete(depot)) return;
    this.#reached.add(depot);
    void this.#tellNow(this.#reached, depot);
  }

  /** Notes what an origin showed otherwise. */
  noteOrigin(report: OriginReport): void {
    this.#measurements.noteOrigin(report);
  }

  /**
   * Tells the master now that another depot cannot be reached. It asks that depot itself, and leads nobody
   * there meanwhile.
   */
  async noteUnreached(depot: string): Promise<void> {
    const now = this.#components.nowMs();
    const saidMs = this.#saidUnreachedMs.get(depot) ?? Number.NEGATIVE_INFINITY;
    if (this.#stopped || !this.#registered || Math.abs(now - saidMs) < SAY_UNREACHED_MS) return;
    if (this.#unreached.size >= MAX_UNREACHED) return;
    this.#unreached.add(depot);
    this.#away.add(depot);
    this.#reached.delete(depot);
    this.#saidUnreachedMs.delete(depot);
    this.#saidUnreachedMs.set(depot, now);
    const [oldest] = this.#saidUnreachedMs.keys();
    if (this.#saidUnreachedMs.size > MOST_SAID && oldest !== undefined) {
      this.#saidUnreachedMs.delete(oldest);
      this.#away.delete(oldest);
    }
    await this.#tellNow(this.#unreached, depot);
  }

  /** Tells the master now of what it has not been told. An exchange that runs may have been put together before. */
  async #tellNow(untold: ReadonlySet<string>, depot: string): Promise<void> {
    await this.#running;
    if (untold.has(depot) && !this.#stopped) await this.beat();
  }

  /** Notes the size of the file behind a URL hash, at `host`, if it is one. */
  noteSize(urlHash: string, host: string, sizeBytes: number, isWholeOnly = false): void {
    this.#measurements.noteSize(urlHash, host, sizeBytes, isWholeOnly);
  }

  /** Notes what has ended of a job. */
  noteJob(report: JobReport): void {
    this.#measurements.noteJob(report);
  }

  async #exchange(): Promise<void> {
    try {
      if (this.#isAlone) this.#doubt();
      if (!this.#registered) await this.#register();
      const isRepeated = this.#measurements.isUnanswered;
      await this.#heartbeat().catch(async (failure: unknown) => {
        if (!(failure instanceof LonghaulError) || failure.code !== 'depot-unknown') throw failure;
        // The master has lost its registry, or the process that counted before this one has ended.
        this.#registered = false;
        await this.#register();
        await this.#heartbeat();
      });
      // What has come since waited for the answer.
      if (isRepeated) await this.#heartbeat();
      if (this.#isAlone) this.#comeBack();
    } catch (thrown) {
      const failure = this.#explain(toFailure(thrown));
      // A report that the master does not take must not keep this depot from being heard.
      if (failure.code === 'bad-request') this.#measurements.noteAnswered();
      // Another key may be registered by now: the next beat finds out.
      if (failure.code === 'depot-signature-wrong') this.#registered = false;
      this.#isAlone ||= failure.code === 'master-unreachable';
      this.#components.onFailure(failure);
      this.#stand({ isMember: this.#outlives(failure), problem: problemOf(failure) });
    }
  }

  /** Forgets what could not be reached while no master could, either. It is looked at again. */
  #doubt(): void {
    this.#unreached.clear();
    this.#components.originReach.doubt();
  }

  #comeBack(): void {
    this.#isAlone = false;
    this.#doubt();
    this.#components.onBack();
  }

  /** The same failure, with what its operator is to do where that is not what its code says. */
  #explain(failure: LonghaulError): LonghaulError {
    const { code } = failure;
    if (!OF_ANOTHER_KEY.has(code) || !this.#components.isKeyRotated()) return failure;
    return new LonghaulError(code, { detail: 'start it again: its key was rotated', cause: failure });
  }

  async #register(): Promise<void> {
    const { client, self } = this.#components;
    const directory = await client.register(self());
    this.#registered = true;
    await this.#take(directory);
  }

  async #heartbeat(): Promise<void> {
    const { client, activeTransfers, isMoving, entryGroup, uplink } = this.#components;
    const { takeLinkReports, takeClientReports, takeOriginReports } = this.#components;
    for (const report of takeLinkReports()) this.#measurements.noteLink(report);
    for (const report of takeClientReports()) this.#measurements.noteClient(report);
    for (const report of takeOriginReports()) this.#measurements.noteOrigin(report);
    const draining = this.#draining;
    const unreached = [...this.#unreached];
    const reached = [...this.#reached].slice(0, MAX_UNREACHED);
    const originsTried = this.#components.originReach.untold();
    const load = uplink ? { uplink: uplink() } : {};
    const report = {
      activeTransfers: activeTransfers(),
      isMoving: isMoving(),
      draining,
      ...load,
      ...this.#measurements.batch(),
      ...(entryGroup && this.#isGroupSame ? { entryGroup: entryGroup.id } : {}),
      ...(unreached.length > 0 ? { unreached } : {}),
      ...(reached.length > 0 ? { reached } : {}),
      ...(originsTried.length > 0 ? { originsTried: [...originsTried] } : {}),
    };
    const { test, probe, ...directory } = await client.heartbeat(report);
    this.#measurements.noteAnswered();
    for (const depot of unreached) this.#unreached.delete(depot);
    for (const depot of reached) this.#reached.delete(depot);
    this.#components.originReach.noteTold(originsTried);
    await this.#take(directory);
    if (!this.#stopped && !draining) this.#components.onHeard({ test, probe });
  }

  async #take(directory: Directory): Promise<void> {
    this.#heardAtMs = this.#components.steadyMs();
    this.#noteWanted(directory.heartbeatSeconds);
    const { self, entryGroup, onDirectory } = this.#components;
    const differs = whyGroupDiffers(entryGroup, self().tls, directory.entryGroup);
    this.#isGroupSame = differs === undefined;
    const { state, problem = differs && problemOf(differs) } = directory.self;
    this.#stand({ isMember: state !== 'unproved', problem });
    await onDirectory(directory);
  }

  /** Whether the master still counts on this depot: one that is not heard for so long has given it up, too. */
  #outlives({ code }: LonghaulError): boolean {
    const { steadyMs, heartbeatMs } = this.#components;
    const patienceMs = LOST_AFTER_HEARTBEATS * (this.#wantedMs ?? heartbeatMs);
    const isLate = steadyMs() - this.#heardAtMs > patienceMs;
    return this.#state.isMember && PASSING.has(code) && !isLate;
  }

  #stand(state: MembershipState): void {
    const { isMember, problem } = this.#state;
    this.#state = state;
    const isChanged = state.isMember !== isMember || state.problem?.code !== problem?.code;
    if (isChanged) this.#components.onState(state);
  }
}

function toFailure(thrown: unknown): LonghaulError {
  if (thrown instanceof LonghaulError) return thrown;
  return new LonghaulError('internal', { detail: String(thrown), cause: thrown });
}

function problemOf({ code, message }: LonghaulError): MembershipState['problem'] {
  return { code, message };
}
