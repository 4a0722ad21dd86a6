/** Look-ups for downloads at once, each a descriptor and a few kilobytes. */
const MAX_LOOK_UPS = 500;
/** Of them, those for one client network: more names than anybody downloads from at once. */
const MAX_PER_CLIENT = 16;
/** Of them, those for one neighbour that sends clients on: it stands for many, and must leave room to the others. */
const MAX_PER_DEPOT = 200;

/** Whom a download's name is looked up for: a client's network, or the depot that sent the download on. */
export type DownloadAsker = { readonly client: string } | { readonly depot: string };

/** The room that look-ups for downloads have, shared by clients and neighbours so that none of them has it all. */
export class LookUpRoom {
  readonly #running = new Map<string, number>();
  #all = 0;

  hasRoomFor(asker: DownloadAsker): boolean {
    const most = 'client' in asker ? MAX_PER_CLIENT : MAX_PER_DEPOT;
    return this.#all < MAX_LOOK_UPS && (this.#running.get(keyOf(asker)) ?? 0) < most;
  }

  /** Takes room for one look-up; the result gives it back, once. */
  enter(asker: DownloadAsker): () => void {
    const key = keyOf(asker);
    this.#count(key, 1);
    let isIn = true;
    return () => {
      if (isIn) this.#count(key, -1);
      isIn = false;
    };
  }

  #count(key: string, change: 1 | -1): void {
    const running = (this.#running.get(key) ?? 0) + change;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
    this.#all += change;
  }
}

function keyOf(asker: DownloadAsker): string {
  return 'client' in asker ? `client ${asker.client}` : `depot ${asker.depot}`;
}
