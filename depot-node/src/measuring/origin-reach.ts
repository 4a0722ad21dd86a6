import type { Socket } from 'node:net';
import { LonghaulError, MAX_ORIGINS_TRIED, type OriginReach as Told } from '@longhaul/shared';
import { couldReachNobody, isOutOfDescriptors, isUnasked, LruMap } from '@longhaul/shared/service';
import type { Dial } from '../sockets/dial.ts';

/**
 * An origin to which a connection stands, or stood so lately, is one that can be reached: it may take no more
 * connections of one address, or rest for a moment.
 */
const REACHED_LATELY_MS = 60_000;
/** Origins of which that is remembered, about 150 bytes each. */
const MOST_REACHED = 2_000;
/**
 * A connection that did not stand for so long when nobody waited for it any more would not have: TCP has sent
 * its SYN three times by then (RFC 6298, section 2). Whoever asks may have less patience than this depot.
 */
const SILENT_MS = 3_500;
/** Where descriptors come and go, one that is free now says nothing of a moment ago. */
const OUT_LATELY_MS = 10_000;
/** What was said is not said at once again before: more names fail where somebody asks for many. */
const SAY_AGAIN_MS = 2_000;
/** Origins that masters were told of as not reached, and hear of when they are: what they do not hear lapses. */
const MOST_AWAY = 1_000;

/** Failures to connect that are the origin's for this depot: no address, none that it may have, or no answer. */
const NO_WAY: ReadonlySet<string> = new Set([
  'origin-unresolvable',
  'origin-unreachable',
  'origin-timeout',
  'address-not-allowed',
]);

interface OriginReachInit {
  /** Tells the master now. */
  readonly report: () => void;
  /** Whether this process can have another descriptor now. */
  readonly hasDescriptor: () => boolean;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
}

/**
 * What this depot has to tell of origins that it cannot connect to, be it for a download or a probe, and of
 * those again to which it can: no chain shall end here for them meanwhile.
 */
export class OriginReach {
  readonly #init: OriginReachInit;
  readonly #reachedAtMs = new LruMap<string, number>(MOST_REACHED);
  /** How many connections stand, of those to which one does: no more than this depot has descriptors. */
  readonly #standing = new Map<string, number>();
  /** Those that were named as not reached, the last one last. */
  readonly #away = new Set<string>();
  /** Until the master has answered. */
  readonly #untold = new Map<string, Told>();
  #saidMs = Number.NEGATIVE_INFINITY;
  /** When a descriptor was lacking last. */
  #outMs = Number.NEGATIVE_INFINITY;

  constructor(init: OriginReachInit) {
    this.#init = init;
  }

  /** The same dial function; what it meets on its way to origins is noted. */
  watch(dial: Dial): Dial {
    const { steadyMs } = this.#init;
    return async (target, signal) => {
      if (target.purpose !== 'origin') return dial(target, signal);
      const startedMs = steadyMs();
      try {
        const dialled = await dial(target, signal);
        this.#noteReached(target, dialled.socket);
        return dialled;
      } catch (failure) {
        const isSilent = steadyMs() - startedMs >= SILENT_MS;
        if (signal.aborted ? isSilent : this.#isNoWay(failure)) this.#noteUnreached(target);
        throw failure;
      }
    };
  }

  /** Takes note that a connection to an origin stands, until the result is called. */
  readonly stands = (origin: Place): (() => void) => {
    const key = keyOf(origin);
    this.#standing.set(key, (this.#standing.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#standing.get(key) ?? 1) - 1;
      if (left > 0) this.#standing.set(key, left);
      else this.#standing.delete(key);
      this.#reachedAtMs.set(key, this.#init.steadyMs());
    };
  };

  /** What a heartbeat has to tell; none of it may be changed. */
  untold(): readonly Told[] {
    return [...this.#untold.values()].slice(0, MAX_ORIGINS_TRIED);
  }

  /** Takes note that a master has answered to that. */
  noteTold(told: readonly Told[]): void {
    for (const one of told) if (this.#untold.get(keyOf(one)) === one) this.#untold.delete(keyOf(one));
  }

  /** Forgets what was not reached and is untold: it may have been for this depot's own trouble. The next try tells. */
  doubt(): void {
    for (const [key, { isReached }] of this.#untold) if (!isReached) this.#untold.delete(key);
  }

  /**
   * Whether this depot has no way to an origin. It is the depot's own where it lacks a family or a resolver, and
   * masters have to know; but not what would have kept it from anybody for that moment. A resolver that cannot
   * be asked is what Node says of a lack of descriptors, too.
   */
  #isNoWay(failure: unknown): boolean {
    const { hasDescriptor, steadyMs } = this.#init;
    if (!(failure instanceof LonghaulError) || !NO_WAY.has(failure.code)) return false;
    const mayBeOut = isUnasked(failure);
    if (isOutOfDescriptors(failure) || (mayBeOut && !hasDescriptor())) this.#outMs = steadyMs();
    return mayBeOut ? steadyMs() - this.#outMs >= OUT_LATELY_MS : !couldReachNobody(failure);
  }

  #noteReached(origin: Place, socket: Socket): void {
    const key = keyOf(origin);
    this.#reachedAtMs.set(key, this.#init.steadyMs());
    if (!socket.closed) socket.once('close', this.stands(origin));
    if (this.#away.delete(key)) this.#say(key, origin, true);
  }

  #noteUnreached(origin: Place): void {
    const key = keyOf(origin);
    if (this.#standing.has(key)) return;
    const reachedAtMs = this.#reachedAtMs.get(key) ?? Number.NEGATIVE_INFINITY;
    if (this.#init.steadyMs() - reachedAtMs < REACHED_LATELY_MS) return;
    this.#away.delete(key);
    this.#away.add(key);
    const [oldest] = this.#away;
    if (this.#away.size > MOST_AWAY && oldest !== undefined) {
      this.#away.delete(oldest);
      this.#untold.delete(oldest);
    }
    this.#say(key, origin, false);
  }

  #say(key: string, { host, port }: Place, isReached: boolean): void {
    this.#untold.set(key, { host, port, isReached });
    const now = this.#init.steadyMs();
    if (now - this.#saidMs < SAY_AGAIN_MS) return;
    this.#saidMs = now;
    this.#init.report();
  }
}

type Place = Pick<Told, 'host' | 'port'>;

function keyOf({ host, port }: Place): string {
  return `${host}:${port}`;
}
