import { CLOCK_SKEW_SECONDS, LonghaulError, type TicketClaims } from '@longhaul/shared';
import type { Admission } from '../jobs/job-table.ts';

/** The longest time that Node's timers know; a ticket that lives longer is looked at again then. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Holds a client's tunnel to its ticket while it is open: nobody else sees what passes through it. */
export interface TunnelBudget {
  /** Aborts when the tunnel has to end, with the `LonghaulError` that says why. */
  readonly signal: AbortSignal;
  /** Takes note of bytes towards the client. */
  readonly spend: (bytes: number) => void;
  readonly stop: () => void;
}

/** Ends a tunnel when its job has used its bytes (`budget-used-up`), or its ticket's life is over (`ticket-expired`). */
export function watchTunnelBudget(
  claims: TicketClaims,
  { job, note }: Admission,
  nowMs: () => number,
): TunnelBudget {
  const over = new AbortController();
  const endMs = (claims.endOfLife + CLOCK_SKEW_SECONDS) * 1000;
  let timer: NodeJS.Timeout | undefined;
  const waitForEnd = () => {
    const restMs = endMs - nowMs();
    if (restMs <= 0) over.abort(new LonghaulError('ticket-expired'));
    else timer = setTimeout(waitForEnd, Math.min(restMs, MAX_TIMER_MS)).unref();
  };
  waitForEnd();
  return {
    signal: over.signal,
    spend: (bytes) => {
      note(bytes);
      if (job.bytes >= claims.budgetBytes) over.abort(new LonghaulError('budget-used-up'));
    },
    stop: () => clearTimeout(timer),
  };
}
