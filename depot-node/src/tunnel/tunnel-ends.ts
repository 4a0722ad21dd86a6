import { CLOCK_SKEW_SECONDS, LonghaulError, type TicketClaims } from '@longhaul/shared';

/** The longest time that Node's timers know, in whole seconds; a ticket that lives longer is looked at again then. */
const MAX_TIMER_MS = 2_147_483_000;

/** What ends one tunnel from within: nobody else sees what passes through it. */
export interface TunnelEnds {
  /** Aborts when the tunnel has to end, with the `LonghaulError` that says why. */
  readonly signal: AbortSignal;
  /** To be called when bytes have come from the origin. */
  readonly noteAnswer: () => void;
  readonly stop: () => void;
}

export interface TunnelBounds {
  /**
   * Without an answer by then it ends (`origin-timeout`): whoever opens many and asks for nothing would keep
   * others from the origin.
   */
  readonly answerMs: number;
  /** A client's tunnel ends with its ticket's life (`ticket-expired`), and with its job. */
  readonly client?: { readonly ticket: TicketClaims; readonly stop: AbortSignal };
}

/** Watches over tunnels, so that one which rests costs no more than it must. All end with the depot. */
export class TunnelWatch {
  readonly #nowMs: () => number;
  readonly #shutdown: AbortSignal;
  readonly #running = new Set<AbortController>();

  constructor(shutdown: AbortSignal, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#shutdown = shutdown;
    shutdown.addEventListener('abort', () => {
      for (const over of this.#running) over.abort(shutdown.reason);
    });
  }

  begin({ answerMs, client }: TunnelBounds): TunnelEnds {
    const over = new AbortController();
    this.#running.add(over);
    if (this.#shutdown.aborted) over.abort(this.#shutdown.reason);
    const onStop = () => over.abort(client?.stop.reason);
    client?.stop.addEventListener('abort', onStop);
    if (client?.stop.aborted) onStop();
    let unanswered: NodeJS.Timeout | undefined = setTimeout(
      () => over.abort(new LonghaulError('origin-timeout')),
      answerMs,
    );
    let life: NodeJS.Timeout | undefined;
    const waitForEnd = (endMs: number) => {
      const restMs = endMs - this.#nowMs();
      if (restMs <= 0) over.abort(new LonghaulError('ticket-expired'));
      // Whole seconds: timers of equal length share what they cost.
      else
        life = setTimeout(
          () => waitForEnd(endMs),
          Math.min(Math.ceil(restMs / 1000) * 1000, MAX_TIMER_MS),
        ).unref();
    };
    if (client) waitForEnd((client.ticket.endOfLife + CLOCK_SKEW_SECONDS) * 1000);
    return {
      signal: over.signal,
      noteAnswer: () => {
        if (unanswered === undefined) return;
        clearTimeout(unanswered);
        unanswered = undefined;
      },
      stop: () => {
        this.#running.delete(over);
        client?.stop.removeEventListener('abort', onStop);
        clearTimeout(unanswered);
        clearTimeout(life);
      },
    };
  }
}
