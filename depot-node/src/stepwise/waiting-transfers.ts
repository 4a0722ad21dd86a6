import type { Admission } from '../jobs/job-table.ts';
import { keyOfWanted, type Wanted } from './conditions.ts';
import { type Held, letGo } from './held-answer.ts';

/** A transfer that was begun for the successor and waits, unread, until that asks for it. */
export interface WaitingTransfer {
  readonly jobId: string;
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
  readonly maxWaiting: number;
  readonly waitMs: number;
  readonly onExpired: (transfer: WaitingTransfer) => void;
}

/** The transfers that wait for their successors, bounded in number and time. */
export class WaitingTransfers {
  readonly #init: WaitingTransfersInit;
  /** In the order in which they began. */
  readonly #waiting = new Map<WaitingTransfer, NodeJS.Timeout>();
  #isClosed = false;

  constructor(init: WaitingTransfersInit) {
    this.#init = init;
  }

  get count(): number {
    return this.#waiting.size;
  }

  hasRoom(): boolean {
    return !this.#isClosed && this.#waiting.size < this.#init.maxWaiting;
  }

  /** Keeps a transfer until it is taken; when nobody comes for it in time, it is dropped. */
  add(transfer: WaitingTransfer): void {
    const timer = setTimeout(() => {
      this.#drop(transfer);
      this.#init.onExpired(transfer);
    }, this.#init.waitMs);
    timer.unref();
    this.#waiting.set(transfer, timer);
  }

  /** Gives away what waits longest of what this successor wants; it is then the caller's to end and to release. */
  take(jobId: string, place: number, wanted: Wanted): WaitingTransfer | undefined {
    const key = keyOfWanted(wanted);
    for (const [transfer, timer] of this.#waiting) {
      const isIt =
        transfer.jobId === jobId && transfer.place === place && keyOfWanted(transfer.wanted) === key;
      if (!isIt) continue;
      clearTimeout(timer);
      this.#waiting.delete(transfer);
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
    clearTimeout(this.#waiting.get(transfer));
    this.#waiting.delete(transfer);
    endTransfer(transfer);
  }
}

/** Ends a transfer that nobody will read, and releases its place. */
export function endTransfer({ abort, held, admission }: WaitingTransfer): void {
  abort();
  void held.then(letGo);
  admission.release();
}
