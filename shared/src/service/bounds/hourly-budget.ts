import { RefillingBudget } from './refilling-budget.ts';

const HOUR_MS = 3_600_000;
/**
 * At once so much of an hour's bytes may be spent where nobody says otherwise; the rest comes back over the
 * hour, so that none has more than its own.
 */
const AT_ONCE = 0.25;
/**
 * Of a depot's bytes for tests, since one that has just come knows nothing of its links, and the first
 * downloads are planned by them.
 */
const AT_ONCE_OF_TESTS = 0.5;

/** So many bytes may be spent in any hour, a share of them at once. */
export class HourlyBudget extends RefillingBudget {
  constructor(bytesPerHour: number, atOnce = AT_ONCE) {
    super(atOnce * bytesPerHour, ((1 - atOnce) * bytesPerHour) / HOUR_MS);
  }

  /** For tests of a depot's links. */
  static forTests(bytesPerHour: number): HourlyBudget {
    return new HourlyBudget(bytesPerHour, AT_ONCE_OF_TESTS);
  }
}
