import { CLOCK_SKEW_SECONDS, LonghaulError, type TicketClaims } from '@longhaul/shared';

/** The longest time that Node's timers know; a ticket that lives longer is looked at again then. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What ends a tunnel from within: nobody else sees what passes through it. */
export interface TunnelEnds {
  /** Aborts when the tunnel has to end, with the `LonghaulError` that says why. */
  readonly signal: AbortSignal;
  /** To be called when bytes have come from the origin. */
  readonly noteAnswer: () => void;
  readonly stop: () => void;
}

/**
 * Ends a tunnel through which no answer comes within `answerMs` (`origin-timeout`): whoever opens many and asks for nothing
 * would keep others from the origin. A client's tunnel, of which the ticket is given, ends with the ticket's life, too
 * (`ticket-expired`).
 */
export function watchTunnelEnds(
  answerMs: number,
  ticket: TicketClaims | undefined,
  nowMs: () => number,
): TunnelEnds {
  const over = new AbortController();
  let unanswered: NodeJS.Timeout | undefined = setTimeout(
    () => over.abort(new LonghaulError('origin-timeout')),
    answerMs,
  );
  let life: NodeJS.Timeout | undefined;
  const waitForEnd = (endMs: number) => {
    const restMs = endMs - nowMs();
    if (restMs <= 0) over.abort(new LonghaulError('ticket-expired'));
    else life = setTimeout(() => waitForEnd(endMs), Math.min(restMs, MAX_TIMER_MS)).unref();
  };
  if (ticket) waitForEnd((ticket.endOfLife + CLOCK_SKEW_SECONDS) * 1000);
  return {
    signal: over.signal,
    noteAnswer: () => {
      if (unanswered === undefined) return;
      clearTimeout(unanswered);
      unanswered = undefined;
    },
    stop: () => {
      clearTimeout(unanswered);
      clearTimeout(life);
    },
  };
}
