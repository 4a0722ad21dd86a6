import { isEntryDepot, ok, type Result, type WayNotice } from '@longhaul/shared';
import type { JobTable } from './jobs/job-table.ts';
import type { Fetcher } from './routes/fetcher.ts';
import { isForOrigin } from './tickets/target.ts';
import type { OpenTicket, TicketGate } from './tickets/ticket-gate.ts';

interface PrepareWayComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
  readonly jobs: Pick<JobTable, 'untimely' | 'knows' | 'fullFor'>;
  readonly fetcher: Pick<Fetcher, 'prepare'>;
  /** Reads a notice of a master. */
  readonly readNotice: (target: string, from: string) => Result<WayNotice>;
}

/**
 * Takes a master's notice that a client is about to come, and makes its way to the origin where the ticket
 * permits that. Refuses what is no notice; a notice that is of no use, or no more, is taken all the same.
 */
export function createPrepareWay({ ownId, gate, jobs, fetcher, readNotice }: PrepareWayComponents) {
  const isOfUse = ({ claims }: OpenTicket, { origin, client }: WayNotice): boolean => {
    const arrival = { from: 'client', address: client, network: client, hasRange: false } as const;
    return (
      claims.kind === 'get' &&
      isEntryDepot(claims, ownId) &&
      isForOrigin(claims, origin) &&
      // Who has come already has a way, or is making one.
      !jobs.knows(claims.jobId) &&
      jobs.untimely(claims, arrival) === undefined &&
      // Who would be refused needs no way.
      jobs.fullFor(claims, arrival) === undefined
    );
  };

  return async (target: string, from: string): Promise<Result<void>> => {
    const notice = readNotice(target, from);
    if (!notice.ok) return notice;
    const ticket = await gate.open(notice.value.ticket);
    if (ticket.ok && isOfUse(ticket.value, notice.value))
      fetcher.prepare(ticket.value, notice.value.origin, notice.value.client);
    return ok(undefined);
  };
}
