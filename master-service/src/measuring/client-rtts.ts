import type { Socket } from 'node:net';
import { clientPrefix } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import { isLoopback } from './client-networks.ts';
import type { ClientTable } from './client-table.ts';
import { masterOf } from './measured-by.ts';

/** The round trip to a client network is taken down so often. */
const NOTED_EVERY_MS = 600_000;
/** Networks of which is remembered when that was. */
const MOST_NOTED = 20_000;
/** A depot is of this master's site when it is so near: the two see clients over the same ways. */
const OF_THE_SITE_MS = 3;

interface ClientRttsInit {
  readonly clients: Pick<ClientTable, 'report'>;
  /** What this master's site is called by configuration. */
  readonly site: () => string | undefined;
  readonly isDepot: (id: string) => boolean;
  /** The least round trip of a connection in milliseconds, as the kernel saw it; `undefined` where nobody can tell. */
  readonly readRtt: (socket: Socket) => number | undefined;
}

/**
 * How far clients are, by the connections on which they ask this master: nobody can make himself nearer than he is. It counts for
 * the depot of the master's site where that has not measured itself: the one that has the site's name, else the nearest of those that are heard and hardly any way off.
 */
export class ClientRtts {
  readonly #init: ClientRttsInit;
  readonly #notedAtMs = new LruMap<string, number>(MOST_NOTED);
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
    const depot = this.#depot();
    if (depot === undefined || socket.remoteAddress === undefined) return;
    const prefix = clientPrefix(socket.remoteAddress);
    if (isLoopback(prefix)) return;
    const notedAtMs = this.#notedAtMs.get(prefix);
    if (notedAtMs !== undefined && Math.abs(nowMs - notedAtMs) < NOTED_EVERY_MS) return;
    this.#notedAtMs.set(prefix, nowMs);
    const rttMs = this.#init.readRtt(socket);
    if (rttMs !== undefined) this.#init.clients.report(masterOf(depot), { prefix, rttMs }, nowMs);
  }

  #depot(): string | undefined {
    const { site, isDepot } = this.#init;
    const named = site();
    if (named !== undefined) return isDepot(named) ? named : undefined;
    return this.#nearest && isDepot(this.#nearest.id) ? this.#nearest.id : undefined;
  }
}
