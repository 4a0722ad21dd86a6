import { CLOCK_SKEW_SECONDS, LonghaulError } from '@longhaul/shared';
import type { Finding } from './finding.ts';
import type { Machine } from './machine.ts';

/** A clock that far off is drifting: half of what tickets and signatures bear. */
const DRIFT_SECONDS = CLOCK_SKEW_SECONDS / 2;
/** What a `Date` header and the way to the master leave open. */
const UNCERTAINTY_SECONDS = 2;

const CHANGE = 'timedatectl set-ntp true, or set up chrony or ntpd';

/** Whether a time service keeps the clock right. */
export function checkTimeService(machine: Machine): Finding {
  const what = 'time service';
  const isSynchronised = machine.isClockSynchronised();
  if (isSynchronised === undefined) return { level: 'ok', what, found: 'cannot be asked here' };
  if (isSynchronised) return { level: 'ok', what, found: 'the kernel knows the clock to be synchronised' };
  const found = 'the kernel knows of none; a virtual machine may get its time from its host';
  return { level: 'warn', what, found, change: CHANGE };
}

/** Whether the clock agrees with the master's, by which tickets begin and end. */
export async function checkMasterClock(readOffsetMs: () => Promise<number>): Promise<Finding> {
  const what = "clock and master's clock";
  const offset = await readOffsetMs().catch((failure: unknown) => reasonOf(failure));
  if (typeof offset === 'string') {
    // What is to be done about it the registration's own check says.
    return { level: 'warn', what, found: `not compared, the master does not answer: ${offset}` };
  }
  const apart = Math.abs(offset) / 1000;
  if (apart <= UNCERTAINTY_SECONDS) return { level: 'ok', what, found: 'agree to within 2 s' };
  const found = `${apart.toFixed(1)} s ${offset > 0 ? 'ahead' : 'behind'}, of ${CLOCK_SKEW_SECONDS} s allowed`;
  if (apart <= DRIFT_SECONDS) return { level: 'ok', what, found };
  return { level: apart > CLOCK_SKEW_SECONDS ? 'fail' : 'warn', what, found, change: CHANGE };
}

function reasonOf(failure: unknown): string {
  if (failure instanceof LonghaulError) return failure.message;
  return failure instanceof Error ? failure.message : String(failure);
}
