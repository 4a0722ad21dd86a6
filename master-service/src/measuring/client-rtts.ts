import type { Socket } from 'node:net';
import { clientPrefix } from '@longhaul/shared';
import { LruMap, OrderedMap } from '@longhaul/shared/service';
import { isLoopback } from './client-networks.ts';
import { FILLED_MS } from './client-queue.ts';
import type { ClientTable } from './client-table.ts';
import { HandshakeWaits } from './handshake-waits.ts';
import { masterOf } from './measured-by.ts';

/** The round trip to a client network is taken down so often. */
const NOTED_EVERY_MS = 600_000;
/** Where its clients wait, or have waited, so often. */
const WAIT_NOTED_EVERY_MS = 5000;
/**
 * Networks told of last, by which is seen whose line it is: where more than half of so many others wait as
 * well, lately, it is the master's.
 */
const BESIDE = { least: 3, most: 16, lifeMs: 600_000 } as const;
/** Networks of which is remembered when that was. */
const MOST_NOTED = 20_000;
/**
 * A depot is of this master's site, or of another depot's, when it is so near: the two see clients over the
 * same ways.
 */
export const OF_THE_SITE_MS = 3;

interface ClientRttsInit {
  readonly clients: Pick<ClientTable, 'report' | 'queue'>;
  /** What this master's site is called by configuration. */
  readonly site: () => string | undefined;
  readonly isDepot: (id: string) => boolean;
  /** The least round trip of a connection in milliseconds, as the kernel saw it; `undefined` where nobody can tell. */
  readonly readRtt: (socket: Socket) => number | undefined;
}

/**
 * How far clients are, by the connections on which they ask this master: nobody can make himself nearer than
 * he is. It counts for the depot of the master's site where that has not measured itself: the one that has
 * the site's name, else the nearest of those that are heard and hardly any way off.
 */
export class ClientRtts {
  readonly #init: ClientRttsInit;
  readonly #notedAtMs = new LruMap<string, number>(MOST_NOTED);
  readonly #waits = new HandshakeWaits();
  /** Whether clients of the networks that were told of last wait. */
  readonly #waiting = new OrderedMap<string, { readonly isWaiting: boolean; readonly atMs: number }>();
  /** A connection has one handshake, and may carry many requests. */
  readonly #seen = new WeakSet<Socket>();
  #nearest: { readonly id: string; readonly rttMs: number } | undefined;

  constructor(init: ClientRttsInit) {
    this.#init = init;
  }

  /** A depot was heard over a connection of its own. */
  noteDepot(id: string, socket: Socket): void {
    if (this.#init.site() !== undefined) return;
    const rttMs = this.#init.readRtt(socket);
    if (rttMs === undefined) return;
    const isGone = this.#nearest && !this.#init.isDepot(this.#nearest.id);
    const isFurther = this.#nearest?.id === id && rttMs > OF_THE_SITE_MS;
    if (isGone || isFurther) this.#nearest = undefined;
    if (rttMs <= OF_THE_SITE_MS && rttMs < (this.#nearest?.rttMs ?? Number.POSITIVE_INFINITY))
      this.#nearest = { id, rttMs };
  }

  /** A client asks for a download. */
  noteClient(socket: Socket, nowMs: number): void {
    if (this.#seen.has(socket)) return;
    const depot = this.#depot();
    const { remoteAddress } = socket;
    if (depot === undefined || remoteAddress === undefined) return;
    this.#seen.add(socket);
    const prefix = clientPrefix(remoteAddress);
    if (isLoopback(prefix)) return;
    const rttMs = this.#init.readRtt(socket);
    if (rttMs === undefined) return;
    const { clients } = this.#init;
    const { shortestMs, waitMs: waitedMs } = this.#waits.note(remoteAddress, rttMs, nowMs);
    const waitMs = waitedMs === undefined ? undefined : this.#ofNetwork(prefix, waitedMs, nowMs);
    // That nothing waits is told where somebody says that it does: it may have been another master, or this
    // one before it was started anew.
    const isToTell = waitMs !== undefined && (waitMs > 0 || clients.queue(prefix, nowMs).handshakeMs > 0);
    const everyMs = isToTell ? WAIT_NOTED_EVERY_MS : NOTED_EVERY_MS;
    const notedAtMs = this.#notedAtMs.get(prefix);
    if (notedAtMs !== undefined && Math.abs(nowMs - notedAtMs) < everyMs) return;
    this.#notedAtMs.set(prefix, nowMs);
    const wait = isToTell ? { queueMs: waitMs } : {};
    clients.report(masterOf(depot), { prefix, rttMs: shortestMs, ...wait }, nowMs);
  }

  /** How long a network's clients wait before their own line. */
  #ofNetwork(prefix: string, waitedMs: number, nowMs: number): number {
    this.#waiting.setLast(prefix, { isWaiting: waitedMs >= FILLED_MS, atMs: nowMs });
    while (this.#waiting.size > BESIDE.most) this.#waiting.deleteOldest();
    const others = [...this.#waiting].filter(
      ([other, { atMs }]) => other !== prefix && Math.abs(nowMs - atMs) <= BESIDE.lifeMs,
    );
    const waiting = others.filter(([, { isWaiting }]) => isWaiting);
    const isOfMaster = others.length >= BESIDE.least && 2 * waiting.length > others.length;
    return isOfMaster ? 0 : waitedMs;
  }

  #depot(): string | undefined {
    const { site, isDepot } = this.#init;
    const named = site();
    if (named !== undefined) return isDepot(named) ? named : undefined;
    return this.#nearest && isDepot(this.#nearest.id) ? this.#nearest.id : undefined;
  }
}
