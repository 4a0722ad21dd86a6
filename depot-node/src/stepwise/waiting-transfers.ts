import type { IncomingMessage } from 'node:http';
import { asLonghaulError, type LonghaulError, type OriginUrl } from '@longhaul/shared';
import { FairRoom } from '@longhaul/shared/service';
import type { Admission } from '../jobs/job-table.ts';
import type { OriginAnswer } from '../origin/origin-connection.ts';
import { TO_ORIGIN } from '../origin/origin-headers.ts';

/** A request as far as its answer depends on it. */
export interface Wanted {
  readonly method: 'GET' | 'HEAD';
  readonly path: string;
  /** Those that origins are told: of a part, a version or a variant of the file. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request wants: an answer to another one must never be given in its place. */
export function wantedBy({ method, headers: sent }: IncomingMessage, path: string): Wanted {
  const headers: Record<string, string> = {};
  for (const name of TO_ORIGIN) {
    const value = sent[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return { method: method === 'HEAD' ? 'HEAD' : 'GET', path, headers };
}

/** Equal for requests that want the same. */
function keyOfWanted({ method, path, headers }: Wanted): string {
  return JSON.stringify([method, path, headers]);
}

/** What came of a fetch that a depot began for its successor: an answer with its body unread, or why there is none. */
export type Held =
  | { readonly ok: true; readonly url: OriginUrl; readonly answer: OriginAnswer }
  /** `url` where it is known all the same: whoever knows it can fetch by cascade. */
  | { readonly ok: false; readonly url: OriginUrl | undefined; readonly error: LonghaulError };

/** The failure of a fetch, as what is held. */
export function heldFailure(thrown: unknown, url: OriginUrl | undefined): Held {
  return { ok: false, url, error: asLonghaulError(thrown, 'origin-unreachable') };
}

/** Gives up what is held, with its whole chain. */
export function letGo(held: Held): void {
  if (held.ok) held.answer.connection.reset();
}

/**
 * What comes for an answer that nobody reads: one read, and what a connection's kernel holds before it tunes
 * its buffer.
 */
const UNREAD_BYTES = 196_608;

/** A transfer that was begun for the successor and waits, unread, until that asks for it. */
export interface WaitingTransfer {
  readonly jobId: string;
  /** Network of the client that had it begun. */
  readonly network: string;
  readonly role: 'exit' | 'middle';
  /** This depot's own place in the chain. */
  readonly place: number;
  /** What the client asked for; the successor must ask for the same. */
  readonly wanted: Wanted;
  readonly admission: Admission;
  /** Ends the fetch while there is no answer. */
  readonly abort: () => void;
  /** Never rejects. */
  readonly held: Promise<Held>;
}

interface WaitingTransfersInit {
  /** Of these one client network has no more than it leaves free. */
  readonly maxWaiting: number;
  readonly waitMs: number;
  readonly onExpired: (transfer: WaitingTransfer) => void;
}

/** The transfers that wait for their successors, bounded in number and time. */
export class WaitingTransfers {
  readonly #init: WaitingTransfersInit;
  readonly #room: FairRoom;
  /** In the order in which they began. */
  readonly #waiting = new Map<WaitingTransfer, NodeJS.Timeout>();
  #isClosed = false;

  constructor(init: WaitingTransfersInit) {
    this.#init = init;
    this.#room = new FairRoom(init.maxWaiting);
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** Why no transfer of this client network may wait now; `undefined` where one may. */
  refusalFor(network: string): 'shutting-down' | 'depot-full' | 'client-busy' | undefined {
    if (this.#isClosed) return 'shutting-down';
    if (this.#room.hasRoomFor(network, 1)) return undefined;
    return this.#room.used >= this.#room.capacity ? 'depot-full' : 'client-busy';
  }

  /** Keeps a transfer until it is taken; when nobody comes for it in time, it is dropped. */
  add(transfer: WaitingTransfer): void {
    const timer = setTimeout(() => {
      this.#drop(transfer);
      this.#init.onExpired(transfer);
    }, this.#init.waitMs);
    timer.unref();
    this.#waiting.set(transfer, timer);
    this.#room.take(transfer.network, 1);
  }

  /** Gives away what waits longest of what this successor wants; it is then the caller's to end and to release. */
  take(jobId: string, place: number, wanted: Wanted): WaitingTransfer | undefined {
    const key = keyOfWanted(wanted);
    for (const transfer of this.#waiting.keys()) {
      const isIt =
        transfer.jobId === jobId && transfer.place === place && keyOfWanted(transfer.wanted) === key;
      if (!isIt) continue;
      this.#forget(transfer);
      return transfer;
    }
    return undefined;
  }

  /** Drops everything, and takes nothing any more. */
  close(): void {
    this.#isClosed = true;
    for (const transfer of this.#waiting.keys()) this.#drop(transfer);
  }

  #drop(transfer: WaitingTransfer): void {
    this.#forget(transfer);
    transfer.abort();
    void transfer.held.then((held) => {
      letGo(held);
      // The origin has sent it, and whoever had it begun has to answer for that.
      if (held.ok && transfer.wanted.method === 'GET') transfer.admission.note(UNREAD_BYTES);
    });
    transfer.admission.release();
  }

  #forget(transfer: WaitingTransfer): void {
    clearTimeout(this.#waiting.get(transfer));
    this.#waiting.delete(transfer);
    this.#room.giveBack(transfer.network, 1);
  }
}
