import { FairRoom, OrderedMap } from '@longhaul/shared/service';
import type { FactKind } from './fact.ts';
import type { Facts } from './facts.ts';

interface SpeakerRoomInit {
  readonly facts: Facts;
  readonly kind: FactKind<unknown>;
  /** Who tells this master of the thing that a key is about. */
  readonly speakerOf: (key: string) => string;
}

/**
 * Shares the room for facts of one kind among those who tell this master of them, such as depots: none has
 * more than it leaves free, and who tells of too much has its own oldest forgotten, not what others told.
 */
export class SpeakerRoom {
  readonly #init: SpeakerRoomInit;
  readonly #room: FairRoom;
  /**
   * Their keys, by speaker, the one that was told of longest ago first; whether it has a place in the room.
   * What a file brings back may be more.
   */
  readonly #keys = new Map<string, OrderedMap<string, boolean>>();

  constructor(init: SpeakerRoomInit) {
    const { facts, kind } = init;
    this.#init = init;
    this.#room = new FairRoom(kind.most);
    facts.store.watch(kind, (now, before) => {
      if ((now ?? before)?.source !== facts.source) return;
      if (now) this.#note(now.key);
      else if (before) this.#forget(before.key);
    });
  }

  /** Makes room for what is about to be learned of a thing. */
  makeRoomFor(key: string): void {
    const { facts, kind, speakerOf } = this.#init;
    const speaker = speakerOf(key);
    while (this.#keys.get(speaker)?.get(key) === undefined && !this.#room.hasRoomFor(speaker, 1)) {
      const oldest = this.#keys.get(speaker)?.oldest;
      // All is full, and nothing of it this one's: then the oldest of all goes.
      if (oldest === undefined) return;
      facts.store.forget(kind, oldest, facts.source);
    }
  }

  #note(key: string): void {
    const speaker = this.#init.speakerOf(key);
    const keys = this.#keys.get(speaker) ?? new OrderedMap<string, boolean>();
    this.#keys.set(speaker, keys);
    keys.setLast(key, keys.get(key) || this.#room.take(speaker, 1));
  }

  #forget(key: string): void {
    const speaker = this.#init.speakerOf(key);
    const keys = this.#keys.get(speaker);
    if (keys?.get(key)) this.#room.giveBack(speaker, 1);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(speaker);
  }
}

/** Of keys that begin with who speaks, and a space. */
export function firstOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
