/** Tells when nothing has come for a while. Time in which it is stopped or paused does not count. */
export class SilenceTimer {
  #timer: NodeJS.Timeout | undefined;
  #watched: { readonly ms: number; readonly onSilent: () => void } | undefined;
  #isPaused = false;

  /** Begins to count, anew if it did already. */
  start(ms: number, onSilent: () => void): void {
    this.stop();
    this.#watched = { ms, onSilent };
    this.#count();
  }

  /** Something has come. */
  touch(): void {
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched = undefined;
  }

  /** Nobody wants anything to come, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    this.#isPaused = false;
    this.#count();
  }

  #count(): void {
    if (this.#isPaused || !this.#watched || this.#timer) return;
    const { ms, onSilent } = this.#watched;
    this.#timer = setTimeout(onSilent, ms);
  }
}
