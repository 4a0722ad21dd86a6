import type { Duplex } from 'node:stream';
import type { DepotEntry } from '@longhaul/shared';

/** Neighbours whose connections are kept warm at once; the ones used longest ago go first. */
const WARM_NEIGHBOURS = 50;
/** How long after its last use a neighbour is kept warm: a person's next download. */
const WARM_MS = 600_000;
/** A spare is replaced before the neighbour, which drops connections that stay silent for 15 s, closes it. */
const SPARE_LIFE_MS = 10_000;

interface SpareLegsComponents {
  /** How many are kept for each neighbour; 0: none. */
  readonly perNeighbour: number;
  /** Opens a connection to a depot, TLS included. */
  readonly open: (depot: DepotEntry, signal: AbortSignal) => Promise<Duplex>;
  readonly findDepot: (id: string) => DepotEntry | undefined;
  /** A connection that waited has been ended by its neighbour, or broke. */
  readonly onBroken: (depot: string) => void;
  readonly nowMs: () => number;
}

interface Spare {
  readonly stream: Duplex;
  /** Stops watching over it. */
  readonly release: () => void;
}

/** A connection that is being opened. */
interface Opening {
  readonly stream: Promise<Duplex | undefined>;
  /** Somebody waits for it already. */
  isTaken: boolean;
}

interface Neighbour {
  readonly id: string;
  usedAtMs: number;
  readonly opening: Set<Opening>;
  readonly spares: Set<Spare>;
}

/**
 * Connections to neighbour depots that wait for use, so that a chain is built without handshakes. Only neighbours that
 * were used lately have some; all are bounded, and replaced before they grow old.
 */
export class SpareLegs {
  readonly #components: SpareLegsComponents;
  /** Least recently used first. */
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #closed = new AbortController();

  constructor(components: SpareLegsComponents) {
    this.#components = components;
  }

  /**
   * A connection to this depot that is ready or, when that has begun already, being opened; `undefined` where
   * there is none, or it could not be opened. From now on some are kept for the next one.
   */
  async take(id: string, signal: AbortSignal): Promise<Duplex | undefined> {
    const neighbour = this.#use(id);
    for (const spare of neighbour.spares) {
      neighbour.spares.delete(spare);
      spare.release();
      this.#fill(neighbour);
      return spare.stream;
    }
    const opening = [...neighbour.opening].find(({ isTaken }) => !isTaken);
    if (!opening) return undefined;
    opening.isTaken = true;
    this.#fill(neighbour);
    const left = Promise.withResolvers<undefined>();
    const onAbort = () => {
      opening.isTaken = false;
      left.resolve(undefined);
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    return Promise.race([opening.stream, left.promise]).finally(() =>
      signal.removeEventListener('abort', onAbort),
    );
  }

  /** Opens a connection to this depot for a download that is about to come, unless there is one for it already. */
  prepare(id: string): void {
    this.#fill(this.#use(id), 1);
  }

  /** Connections that wait now. */
  get count(): number {
    return [...this.#neighbours.values()].reduce((sum, { spares }) => sum + spares.size, 0);
  }

  /** Fills up; called when a connection to this depot has just worked. */
  keepWarm(id: string): void {
    this.#fill(this.#use(id));
  }

  close(): void {
    this.#closed.abort();
    for (const neighbour of this.#neighbours.values()) this.#drop(neighbour);
  }

  #use(id: string): Neighbour {
    const neighbour = this.#neighbours.get(id) ?? { id, usedAtMs: 0, opening: new Set(), spares: new Set() };
    neighbour.usedAtMs = this.#components.nowMs();
    this.#neighbours.delete(id);
    this.#neighbours.set(id, neighbour);
    for (const oldest of this.#neighbours.values()) {
      if (this.#neighbours.size <= WARM_NEIGHBOURS) break;
      this.#drop(oldest);
    }
    return neighbour;
  }

  #drop(neighbour: Neighbour): void {
    this.#neighbours.delete(neighbour.id);
    for (const { release, stream } of neighbour.spares) {
      release();
      stream.destroy();
    }
    neighbour.spares.clear();
  }

  #fill(neighbour: Neighbour, atLeast = 0): void {
    const wanted = Math.max(this.#components.perNeighbour, atLeast);
    const free = () => [...neighbour.opening].filter(({ isTaken }) => !isTaken).length;
    while (neighbour.spares.size + free() < wanted) {
      const entry = this.#components.findDepot(neighbour.id);
      if (!entry || this.#closed.signal.aborted) return;
      const opening: Opening = {
        isTaken: false,
        stream: this.#components
          .open(entry, this.#closed.signal)
          // A neighbour that cannot be reached is found out by the download that needs it.
          .catch(() => undefined)
          .finally(() => neighbour.opening.delete(opening)),
      };
      neighbour.opening.add(opening);
      void opening.stream.then((stream) => {
        if (stream && !opening.isTaken) this.#keep(neighbour, stream);
      });
    }
  }

  #keep(neighbour: Neighbour, stream: Duplex): void {
    if (this.#closed.signal.aborted || this.#neighbours.get(neighbour.id) !== neighbour) {
      stream.destroy();
      return;
    }
    const age = setTimeout(() => {
      this.#retire(neighbour, spare);
      if (this.#components.nowMs() - neighbour.usedAtMs < WARM_MS) this.#fill(neighbour);
      else if (neighbour.spares.size === 0) this.#neighbours.delete(neighbour.id);
    }, SPARE_LIFE_MS);
    age.unref();
    // One that breaks is not replaced before the next use: a neighbour that closes at once would be dialled for ever.
    const onGone = () => {
      this.#retire(neighbour, spare);
      this.#components.onBroken(neighbour.id);
    };
    const events = ['end', 'error', 'close'] as const;
    for (const event of events) stream.on(event, onGone);
    const release = () => {
      clearTimeout(age);
      for (const event of events) stream.off(event, onGone);
    };
    const spare: Spare = { stream, release };
    neighbour.spares.add(spare);
  }

  #retire(neighbour: Neighbour, spare: Spare): void {
    neighbour.spares.delete(spare);
    spare.release();
    // An error that comes after this is nobody's.
    spare.stream.on('error', () => {});
    spare.stream.destroy();
  }
}
