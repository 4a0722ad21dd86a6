import { Seldom } from '@longhaul/shared/service';
import type { Logger } from 'pino';
import type { MembershipState } from './directory/membership.ts';
import type { LegSummary } from './estimates/leg-summaries.ts';
import type { DepotEvent, Observe } from './plane/events.ts';

/** What happens all the time and is no fault. */
const ORDINARY: ReadonlySet<DepotEvent['type']> = new Set([
  'directory',
  'leg',
  'prepared-way',
  'link-tested',
  'origin-probed',
  'flow',
  'lane-opened',
  'block-asked-again',
  'lanes-asked-singly',
]);

/** What somebody is served with: one line each. */
const SERVED: ReadonlySet<DepotEvent['type']> = new Set(['transfer', 'tunnel', 'handover']);

/** Of what others can cause as often as they like, one line of a kind is written in so long a time. */
const SAME_LINE_INTERVAL_MS = 10_000;
/** Lines of one code in that time, of however many downloads: a client gets as many tickets as it asks for. */
const MOST_SAME_CODE = 20;

/**
 * Writes events for people. What others can cause is written once of a kind in a while, with how many were
 * held back: one kind is one code of one download, or of all requests that have no ticket. And a code is
 * written a few times in a while, whatever it is of.
 */
export function createEventLog(log: Logger, nowMs: () => number): Observe {
  const ofOne = new Seldom(SAME_LINE_INTERVAL_MS, nowMs);
  const ofAll = new Seldom(SAME_LINE_INTERVAL_MS, nowMs, MOST_SAME_CODE);
  return (event) => {
    const { type, ...fields } = 'legs' in event ? withoutNetworks(event) : event;
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
    // Each is told once in the process's life, most of them at start.
    if (type === 'sockets') {
      log.warn(fields, type);
      return;
    }
    const kind = `${type} ${'code' in event ? event.code : 'bound' in event ? event.bound : ''}`;
    const ofThis = ofOne.take(`${kind} ${'jobId' in event ? (event.jobId ?? '') : ''}`);
    if (ofThis === undefined) return;
    const ofOthers = ofAll.take(kind);
    if (ofOthers === undefined) return;
    const heldBack = ofThis + ofOthers;
    log.warn(heldBack > 0 ? { ...fields, heldBack } : fields, type);
  };
}

/** Where a client is from is its master's to know, and not for whoever reads a log. */
function withoutNetworks<Event extends { readonly legs: readonly LegSummary[] }>(event: Event): Event {
  const legs = event.legs.map((leg) => {
    const { network: _, ...others } = leg;
    return others;
  });
  return { ...event, legs };
}

function logMembership(log: Logger, { isMember, problem }: MembershipState): void {
  const fields = { isMember, code: problem?.code };
  if (!problem && isMember) log.info(fields, 'membership: the master counts on this depot');
  else if (problem) log[isMember ? 'warn' : 'error'](fields, `membership: ${problem.message}`);
  else log.info(fields, 'membership: the master has not asked for this depot at its address yet');
}
