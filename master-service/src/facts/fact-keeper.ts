import type { Facts } from './facts.ts';
import type { FactsFile } from './facts-file.ts';

/** How often it is looked whether facts have outlived themselves, and whether the clock was set. */
const LOOK_MS = 1_000;
/** A clock that differs by more from the steady one was set: it is not only a slow one. */
const SET_MS = 500;
/** How often what is known is written to disk: a master that crashes has forgotten so much at most. */
const SAVE_MS = 30_000;

interface FactKeeperInit {
  readonly facts: Facts;
  /** Left out where nothing outlives the process. */
  readonly file: FactsFile | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Told when the file could not be written. */
  readonly onFailure: (failure: unknown) => void;
  /** Told when the clock was set, by how much, and what was read from the file. */
  readonly onClockSet: (byMs: number) => void;
  readonly onRestored: (facts: number, refused: number) => void;
}

/** Keeps facts as old as they are, and only as long as they say something; and keeps them over restarts. */
export class FactKeeper {
  readonly #init: FactKeeperInit;
  #looking: NodeJS.Timeout | undefined;
  #saving: NodeJS.Timeout | undefined;
  #nowMs = 0;
  #steadyMs = 0;

  constructor(init: FactKeeperInit) {
    this.#init = init;
  }

  /** Restores what was kept, and looks after it until `close`. */
  start(): void {
    const { facts, file, now, steadyMs, onRestored } = this.#init;
    this.#nowMs = now();
    this.#steadyMs = steadyMs();
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
    if (!file) return;
    const restored = file.restore(facts, now());
    if (restored.facts + restored.refused > 0) onRestored(restored.facts, restored.refused);
    // Its epoch is on disk before anybody could be told of it.
    void this.#save();
    this.#saving = setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  /** Looks whether the clock was set, and forgets what is too old. */
  look(): void {
    const { facts, now, steadyMs, onClockSet } = this.#init;
    const byMs = now() - this.#nowMs - (steadyMs() - this.#steadyMs);
    this.#nowMs = now();
    this.#steadyMs = steadyMs();
    if (Math.abs(byMs) > SET_MS) {
      // What was learned is as old as before, whatever the clock says now.
      facts.store.shift(byMs);
      onClockSet(byMs);
    }
    facts.store.sweep(now());
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    clearInterval(this.#saving);
    await this.#save();
  }

  async #save(): Promise<void> {
    const { facts, file, now, onFailure } = this.#init;
    await file?.save(facts, now()).catch(onFailure);
  }
}
