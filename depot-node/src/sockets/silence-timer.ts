/**
 * How long is looked for what came while this process, or its machine, stood still: a timer that became due then
 * fires before anything is read.
 */
const LAST_LOOK_MS = 20;

/** Tells when nothing has come for a while. Time in which it is stopped or paused does not count. */
export class SilenceTimer {
  #timer: NodeJS.Timeout | undefined;
  #watched: { readonly ms: number; readonly onSilent: () => void } | undefined;
  #isPaused = false;
  #isLastLook = false;
  #immediate: NodeJS.Immediate | undefined;

  /** Begins to count, anew if it did already. */
  start(ms: number, onSilent: () => void): void {
    this.stop();
    this.#watched = { ms, onSilent };
    this.#count();
  }

  /** Something has come. */
  touch(): void {
    if (this.#isLastLook) {
      this.#clear();
      this.#count();
    } else this.#timer?.refresh();
  }

  stop(): void {
    this.#clear();
    this.#watched = undefined;
  }

  /** Nobody wants anything to come, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#clear();
  }

  resume(): void {
    this.#isPaused = false;
    this.#count();
  }

  #count(): void {
    if (this.#isPaused || !this.#watched || this.#timer) return;
    const { ms, onSilent } = this.#watched;
    this.#timer = setTimeout(() => {
      this.#isLastLook = true;
      // Once more: where many timers are due, this one, too, may fire before anything is read.
      this.#timer = setTimeout(() => {
        this.#immediate = setImmediate(onSilent);
      }, LAST_LOOK_MS);
    }, ms);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#isLastLook = false;
  }
}
