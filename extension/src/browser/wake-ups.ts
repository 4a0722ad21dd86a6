import { api } from './browser-api.ts';

const ALARM = 'look-at-jobs';
/** Chromium rings no alarm earlier. */
const SHORTEST_ALARM_MS = 30_000;
/** A background that has nothing to do sleeps about then, and its timers with it. */
const LONGEST_TIMER_MS = 25_000;

/**
 * Calls back at the times that are asked for. What is near is left to a timer while the background is awake; an alarm
 * wakes it for what is far, and in case it fell asleep before.
 */
export class WakeUps {
  readonly #onTime: () => void;
  #nextMs = Number.POSITIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** To be made while the background starts: it listens for the alarm that may have woken it. */
  constructor(onTime: () => void) {
    this.#onTime = onTime;
    api.alarms.onAlarm.addListener(({ name }) => {
      if (name === ALARM) this.#ring();
    });
  }

  /** Asks for a call at this time; the earliest of all counts, and whoever is called asks again. */
  at(timeMs: number): void {
    if (timeMs >= this.#nextMs) return;
    this.#nextMs = timeMs;
    const waitMs = Math.max(0, timeMs - Date.now());
    clearTimeout(this.#timer);
    if (waitMs <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#ring(), waitMs);
    void api.alarms.create(ALARM, { when: Date.now() + Math.max(waitMs, SHORTEST_ALARM_MS) });
  }

  #ring(): void {
    clearTimeout(this.#timer);
    this.#nextMs = Number.POSITIVE_INFINITY;
    this.#onTime();
  }
}
