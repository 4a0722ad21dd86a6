import type { Facts } from './facts.ts';
import type { FactsFile, Restored } from './facts-file.ts';

/** How often it is looked whether facts have outlived themselves. */
const LOOK_MS = 1_000;
/** How often what is known is written to disk: a master that crashes has forgotten so much at most ... */
const SAVE_MS = 30_000;
/** ... or a hundred times as long as writing takes, so that it takes one percent of the time. */
const SAVE_SHARE = 0.01;
/** Saves at the end: one that runs, the last one, and one more for what has come meanwhile. */
const SAVES_AT_END = 3;
/**
 * A file that is so old by the clock of now, and of which something has outlived itself, may hold all of it: the
 * clock may be wrong, and what was measured lives a week.
 */
const AGED_MS = 86_400_000;

interface FactKeeperInit {
  readonly facts: Facts;
  /** Left out where nothing outlives the process. */
  readonly file: FactsFile | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Called at each look: what this master says and what still holds is said again, before anybody forgets it. */
  readonly sayAgain: (nowMs: number) => void;
  /** Called at each look: what others could not write down they may try again. */
  readonly saveAgain: () => void;
  /** Told when the file could not be written. */
  readonly onFailure: (failure: unknown) => void;
  /** Told what was read from the file, and whether it was set aside. */
  readonly onRestored: (restored: Restored, isSetAside: boolean) => void;
}

/** Keeps facts only as long as they say something, and keeps them over restarts. */
export class FactKeeper {
  readonly #init: FactKeeperInit;
  #looking: NodeJS.Timeout | undefined;
  #saving: NodeJS.Timeout | undefined;
  /** Whether what was kept is known: to write before that would be to forget it. */
  #isRestored = false;
  #isClosed = false;
  /** How long the last save took; infinity before there was one. */
  #savedInMs = Number.POSITIVE_INFINITY;

  constructor(init: FactKeeperInit) {
    this.#init = init;
  }

  /** Restores what was kept, and looks after it until `close`. */
  start(): void {
    const { facts, file, now } = this.#init;
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
    if (!file) return;
    const restored = file.restore(facts, now());
    this.#isRestored = true;
    this.#tellRestored(restored, file);
    // Its epoch is on disk before anybody could be told of it.
    void this.#saveOn();
  }

  #tellRestored(restored: Restored, file: FactsFile): void {
    const { onFailure, onRestored } = this.#init;
    const { facts, outlived, refused, passedMs } = restored;
    if (facts + outlived + refused === 0) return;
    const isToKeep = outlived > 0 && passedMs >= AGED_MS;
    try {
      if (isToKeep) file.setAside();
      onRestored(restored, isToKeep);
    } catch (failure) {
      onRestored(restored, false);
      onFailure(failure);
    }
  }

  /** Says again what holds, and forgets what is too old. */
  look(): void {
    const { facts, now, sayAgain, saveAgain } = this.#init;
    const nowMs = now();
    sayAgain(nowMs);
    saveAgain();
    facts.store.sweep(nowMs);
  }

  /** How long `close` may take, by how long saving took last; infinity where nothing was saved yet. */
  get closesWithinMs(): number {
    return this.#init.file ? SAVES_AT_END * this.#savedInMs : 0;
  }

  /** Saves at once, while others still end, and what those have changed once they have. */
  async close(others: Promise<unknown> = Promise.resolve()): Promise<void> {
    clearInterval(this.#looking);
    this.#isClosed = true;
    clearTimeout(this.#saving);
    const { sequence } = this.#init.facts.newest;
    await Promise.all([this.#save(), others]);
    // What other masters have told meanwhile they tell again.
    if (this.#init.facts.newest.sequence !== sequence) await this.#save();
  }

  async #saveOn(): Promise<void> {
    await this.#save();
    if (this.#isClosed) return;
    const waitMs = Math.max(SAVE_MS, this.#savedInMs / SAVE_SHARE);
    this.#saving = setTimeout(() => void this.#saveOn(), waitMs).unref();
  }

  async #save(): Promise<void> {
    const { facts, file, now, steadyMs, onFailure } = this.#init;
    if (!this.#isRestored) return;
    const beganMs = steadyMs();
    await file?.save(facts, now()).catch(onFailure);
    this.#savedInMs = steadyMs() - beganMs;
  }
}
