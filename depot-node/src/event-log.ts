import { Seldom } from '@longhaul/shared/service';
import type { Logger } from 'pino';
import type { MembershipState } from './directory/membership.ts';
import type { DepotEvent, Observe } from './plane/events.ts';

/** What happens all the time and is no fault. */
const ORDINARY: ReadonlySet<DepotEvent['type']> = new Set([
  'directory',
  'leg',
  'flow',
  'lane-opened',
  'block-asked-again',
]);

/** What somebody is served with: one line each. */
const SERVED: ReadonlySet<DepotEvent['type']> = new Set(['transfer', 'tunnel', 'handover']);

/** Of what others can cause as often as they like, one line of a kind is written in so long a time. */
const SAME_LINE_INTERVAL_MS = 10_000;

/**
 * Writes events for people. What others can cause is written once of a kind in a while, with how many were held back: one
 * kind is one code of one download, or of all requests that have no ticket.
 */
export function createEventLog(log: Logger, nowMs: () => number): Observe {
  const seldom = new Seldom(SAME_LINE_INTERVAL_MS, nowMs);
  return (event) => {
    const { type, ...fields } = event;
    if (event.type === 'membership') {
      logMembership(log, event);
      return;
    }
    if (ORDINARY.has(type)) {
      log.debug(fields, type);
      return;
    }
    if (SERVED.has(type)) {
      log.info(fields, type);
      return;
    }
    const heldBack = seldom.take(kindOf(event));
    if (heldBack !== undefined) log.warn(heldBack > 0 ? { ...fields, heldBack } : fields, type);
  };
}

function kindOf(event: DepotEvent): string {
  const code = 'code' in event ? event.code : 'bound' in event ? event.bound : '';
  const job = 'jobId' in event ? (event.jobId ?? '') : '';
  return `${event.type} ${code} ${job}`;
}

function logMembership(log: Logger, { isMember, problem }: MembershipState): void {
  const fields = { isMember, code: problem?.code };
  if (!problem && isMember) log.info(fields, 'membership: the master counts on this depot');
  else if (problem) log[isMember ? 'warn' : 'error'](fields, `membership: ${problem.message}`);
  else log.info(fields, 'membership: the master has not asked for this depot at its address yet');
}
