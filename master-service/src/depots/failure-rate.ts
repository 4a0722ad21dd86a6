import type { Fact } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import { DEPOT_HEARD } from './depot-facts.ts';

/**
 * A depot fails once a week where nothing is known: restarts for updates, crashes, lost networks. It counts
 * as much as a week of one depot.
 */
const USUAL_SECONDS_BETWEEN_FAILURES = 604_800;

/** How long a depot was up in one source's hearing, and how often it failed there. */
export interface UpTime {
  readonly upSeconds: number;
  readonly failures: number;
}

/**
 * Goes on counting when a depot is heard: one that was not for too long before has failed. Not where it had
 * said that it would go, nor where somebody else may have heard it meanwhile.
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

/**
 * How often depots fail, as all heartbeats tell: the mean of what was seen and of what is usual. Of one
 * depot's failures no more count than those of all that fail less often, with what is usual: who is lost all
 * day, or says so, tells little of the others.
 */
export class FailureRate {
  readonly #failuresOf = new Map<string, number>();
  #upSeconds = 0;
  #counted: number | undefined;

  constructor(facts: Facts) {
    facts.store.watch(DEPOT_HEARD, (now, before) => {
      this.#count(now, 1);
      this.#count(before, -1);
    });
  }

  /** Failures of one depot. */
  get perSecond(): number {
    this.#counted ??= countedFailures([...this.#failuresOf.values()]);
    return this.#counted / (this.#upSeconds + USUAL_SECONDS_BETWEEN_FAILURES);
  }

  #count(heard: Fact<UpTime> | undefined, times: 1 | -1): void {
    if (!heard) return;
    const { failures, upSeconds } = heard.value;
    this.#upSeconds += times * upSeconds;
    if (failures === 0) return;
    const all = (this.#failuresOf.get(heard.key) ?? 0) + times * failures;
    if (all === 0) this.#failuresOf.delete(heard.key);
    else this.#failuresOf.set(heard.key, all);
    this.#counted = undefined;
  }
}

function countedFailures(ofEach: readonly number[]): number {
  return ofEach.toSorted((one, other) => one - other).reduce((sum, one) => sum + Math.min(one, sum), 1);
}
