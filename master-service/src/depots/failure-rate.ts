import type { Fact } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import { DEPOT_HEARD } from './depot-facts.ts';

/** A depot fails once a week where nothing is known: restarts for updates, crashes, lost networks. It counts as much as a week of one depot. */
const USUAL_SECONDS_BETWEEN_FAILURES = 604_800;

/** How long a depot was up in one source's hearing, and how often it failed there. */
export interface UpTime {
  readonly upSeconds: number;
  readonly failures: number;
}

/**
 * Goes on counting when a depot is heard: one that was not for too long before has failed. Not where it had said that it
 * would go, nor where somebody else may have heard it meanwhile.
 */
export function countHeard(facts: Facts, depot: string, lostAfterMs: number, nowMs: number): UpTime {
  const { upSeconds = 0, failures = 0 } = facts.own(DEPOT_HEARD, depot)?.value ?? {};
  const last = facts.store.newest(DEPOT_HEARD, depot);
  if (!last || last.value.draining || nowMs < last.timeMs) return { upSeconds, failures };
  const silentMs = nowMs - last.timeMs;
  // In whole milliseconds: other masters are told it each second.
  if (silentMs <= lostAfterMs) return { upSeconds: Math.round(1000 * upSeconds + silentMs) / 1000, failures };
  const isOurs = last.source === facts.source && last.timeMs >= facts.startedAtMs;
  return { upSeconds, failures: isOurs ? failures + 1 : failures };
}

/** How often depots fail, as all heartbeats tell: the mean of what was seen and of what is usual. */
export class FailureRate {
  #failures = 0;
  #upSeconds = 0;

  constructor(facts: Facts) {
    facts.store.watch(DEPOT_HEARD, (now, before) => {
      this.#count(now, 1);
      this.#count(before, -1);
    });
  }

  /** Failures of one depot. */
  get perSecond(): number {
    return (this.#failures + 1) / (this.#upSeconds + USUAL_SECONDS_BETWEEN_FAILURES);
  }

  #count(heard: Fact<UpTime> | undefined, times: 1 | -1): void {
    this.#failures += times * (heard?.value.failures ?? 0);
    this.#upSeconds += times * (heard?.value.upSeconds ?? 0);
  }
}
