import { FairRoom, OrderedMap } from '@longhaul/shared/service';
import type { FactKind } from './fact.ts';
import type { Facts } from './facts.ts';
import { firstOf } from './two-part-keys.ts';

interface SpeakerRoomInit<Value> {
  readonly facts: Facts;
  readonly kind: FactKind<Value>;
  /** Who tells this master of the thing that a key is about; left out, the first of its two parts. */
  readonly speakerOf?: (key: string) => string;
}

/**
 * Shares the room for facts of one kind among those who tell this master of them, such as depots: none has
 * more than it leaves free, and who tells of too much has its own oldest forgotten, not what others told.
 */
export class SpeakerRoom<Value> {
  readonly #init: SpeakerRoomInit<Value>;
  readonly #speakerOf: (key: string) => string;
  readonly #room: FairRoom;
  /**
   * Their keys, by speaker, the one that was told of longest ago first; whether it has a place in the room.
   * What a file brings back may be more.
   */
  readonly #keys = new Map<string, OrderedMap<string, boolean>>();

  constructor(init: SpeakerRoomInit<Value>) {
    const { facts, kind, speakerOf = firstOf } = init;
    this.#init = init;
    this.#speakerOf = speakerOf;
    this.#room = new FairRoom(kind.most);
    facts.store.watch(kind, (now, before) => {
      if ((now ?? before)?.source !== facts.source) return;
      if (now) this.#note(now.key);
      else if (before) this.#forget(before.key);
    });
  }

  /** Learns what its speaker tells of a thing, as `Facts.learn` does, and makes room for it first. */
  learn(key: string, value: Value, nowMs: number): void {
    const { facts, kind } = this.#init;
    this.#makeRoomFor(key);
    facts.learn(kind, key, value, nowMs);
  }

  /**
   * Learns what comes of what is known of a thing, and how long ago that was told, whichever master was told
   * it: a depot that comes from another one has measured as much as before. There is room by then.
   */
  update(key: string, nowMs: number, next: (known: Value | undefined, passedMs: number) => Value): void {
    const { facts, kind } = this.#init;
    const known = facts.store.newest(kind, key);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    this.#makeRoomFor(key);
    facts.learn(kind, key, next(known?.value, passedMs), nowMs);
  }

  #makeRoomFor(key: string): void {
    const { facts, kind } = this.#init;
    const speaker = this.#speakerOf(key);
    while (this.#keys.get(speaker)?.get(key) === undefined && !this.#room.hasRoomFor(speaker, 1)) {
      const oldest = this.#keys.get(speaker)?.oldest;
      // All is full, and nothing of it this one's: then the oldest of all goes.
      if (oldest === undefined) return;
      facts.store.forget(kind, oldest, facts.source);
    }
  }

  #note(key: string): void {
    const speaker = this.#speakerOf(key);
    const keys = this.#keys.get(speaker) ?? new OrderedMap<string, boolean>();
    this.#keys.set(speaker, keys);
    keys.setLast(key, keys.get(key) || this.#room.take(speaker, 1));
  }

  #forget(key: string): void {
    const speaker = this.#speakerOf(key);
    const keys = this.#keys.get(speaker);
    if (keys?.get(key)) this.#room.giveBack(speaker, 1);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(speaker);
  }
}
