/** How often it is looked how much the event loop rests. */
const LOOK_MS = 20;
/** A loop that rests for less of its time has more to do than it can. */
const LEAST_REST = 0.05;
/** What is left of the part of plans that is made, after each look at a loop that does not rest. */
const LESS = 0.8;
/** It grows to all of them within this time where the loop rests. */
const ALL_AGAIN_MS = 1_000;
/**
 * Of those who ask for much, at least so many of a hundred are planned for: a master that plans nothing
 * learns of nothing.
 */
const LEAST_PART = 0.02;
/** Where those who ask for much have so small a part of their plans left, the others have to wait, too. */
const OTHERS_TOO = 0.1;

/**
 * How many of the plans that are asked for can be made so that the event loop still rests now and then. One
 * that never does while many wait has a queue that only grows, in the sockets or where they come from,
 * however short its turns are.
 */
export class SpareTime {
  readonly #idleMs: () => number;
  #lookedMs: number | undefined;
  #idleBeforeMs = 0;
  #isCrowded = false;
  /** Of all plans asked for. */
  #part = 1;
  /** Grows by the part with each plan asked for; one is made for each whole one. */
  #due = 0;

  constructor(idleMs: () => number) {
    this.#idleMs = idleMs;
  }

  /** Whether there is time for the plan that is asked for now. */
  leavesRoom(asksMuch: boolean, nowMs: number): boolean {
    this.#look(nowMs);
    if (this.#part === 1 || (!asksMuch && this.#part > OTHERS_TOO)) return true;
    this.#due += this.#part;
    if (this.#due < 1) return false;
    this.#due -= 1;
    return true;
  }

  /**
   * Many have waited for each other in one turn of the loop: where few do, a loop that is always busy makes
   * nobody wait.
   */
  noteCrowd(): void {
    this.#isCrowded = true;
  }

  #look(nowMs: number): void {
    if (this.#lookedMs === undefined) {
      this.#lookedMs = nowMs;
      this.#idleBeforeMs = this.#idleMs();
      return;
    }
    const passedMs = nowMs - this.#lookedMs;
    if (passedMs < LOOK_MS) return;
    const idleMs = this.#idleMs();
    const rests = idleMs - this.#idleBeforeMs >= LEAST_REST * passedMs;
    if (rests || !this.#isCrowded) this.#part = Math.min(1, this.#part + passedMs / ALL_AGAIN_MS);
    else this.#part = Math.max(LEAST_PART, LESS * this.#part);
    this.#lookedMs = nowMs;
    this.#idleBeforeMs = idleMs;
    this.#isCrowded = false;
  }
}
