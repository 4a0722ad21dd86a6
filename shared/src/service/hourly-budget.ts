import { RefillingBudget } from './refilling-budget.ts';

const HOUR_MS = 3_600_000;
/** At once so much of an hour's bytes may be spent; the rest comes back over the hour, so that none has more than its own. */
const AT_ONCE = 0.25;

/** So many bytes may be spent in any hour, a quarter of them at once. */
export class HourlyBudget extends RefillingBudget {
  constructor(bytesPerHour: number) {
    super(AT_ONCE * bytesPerHour, ((1 - AT_ONCE) * bytesPerHour) / HOUR_MS);
  }
}
