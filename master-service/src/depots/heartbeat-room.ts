import { MAX_BODY_BYTES } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** A heartbeat counts as so many bytes at least: the directory in its answer is work, too. */
const LEAST_BYTES = 65_536;
/** Bytes of heartbeats that one depot may send at once: eight as long as may be, or 32 short ones. Depots beat out of turn for neighbours that are gone, or back, and for probes. */
const MOST_BYTES = 8 * MAX_BODY_BYTES;
/** One as long as may be, or four short ones, come back in this part of the time between two heartbeats: a few hundredths of a core for a depot that takes all. */
const REFILL_SHARE = 0.5;
/** Depots whose heartbeats are counted: more than a master knows. */
const MOST_DEPOTS = 5_000;

/** What a depot has sent, and what of it still counts at a time. */
interface Sent {
  bytes: number;
  atMs: number;
}

/** Bounds what a master reads of one depot's heartbeats, so that none has more of its time than a depot can need. */
export class HeartbeatRoom {
  readonly #bytesPerMs: number;
  readonly #sent = new LruMap<string, Sent>(MOST_DEPOTS);

  constructor(heartbeatMs: number) {
    this.#bytesPerMs = MAX_BODY_BYTES / (REFILL_SHARE * heartbeatMs);
  }

  /** Whether there is room for one more heartbeat of a depot, which is taken then. */
  take(id: string, lengthBytes: number, nowMs: number): boolean {
    const sent = this.#sent.get(id) ?? { bytes: 0, atMs: nowMs };
    // A clock that was set back gives nothing back.
    const passedMs = Math.max(0, nowMs - sent.atMs);
    const before = Math.max(0, sent.bytes - this.#bytesPerMs * passedMs);
    const after = before + Math.max(lengthBytes, LEAST_BYTES);
    const hasRoom = after <= MOST_BYTES;
    this.#sent.set(id, { bytes: hasRoom ? after : before, atMs: nowMs });
    return hasRoom;
  }
}
