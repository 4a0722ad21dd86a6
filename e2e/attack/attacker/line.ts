import { setTimeout as delay } from 'node:timers/promises';

/** What an attacker's line carries: 800 Mbit/s. More would measure the machine, which is everybody's here. */
const BYTES_PER_MS = 100_000;
/** What may go at once after a pause. */
const BURST_MS = 20;

/** The one line over which everything goes that an attacker sends in bulk. */
export class Line {
  #freeAtMs = 0;

  /** Waits until so many bytes may go. */
  async take(bytes: number): Promise<void> {
    const nowMs = performance.now();
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs - BURST_MS) + bytes / BYTES_PER_MS;
    if (this.#freeAtMs > nowMs) await delay(this.#freeAtMs - nowMs);
  }
}
