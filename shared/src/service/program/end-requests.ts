/** How a service ends: its running work may end first, has a moment for it, or is broken off. */
export type Urgency = 'drain' | 'soon' | 'now';

/** Who asks a service to end. Only a signal that comes again means that somebody does not want to wait. */
interface EndRequest {
  readonly urgency: Exclude<Urgency, 'now'>;
  readonly isSignal: boolean;
}

/**
 * npm, a shell and the kernel may each pass on one signal; what comes within this time of the first is the
 * same request.
 */
const SAME_REQUEST_MS = 500;

/** Of all requests to end, what the service has to do. */
export class EndRequests {
  readonly #nowMs: () => number;
  #urgency: Urgency | undefined;
  #askedAtMs = 0;

  /** @param nowMs a clock that is never set. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** How urgently the service has to end from now on; `undefined` where the request changes nothing. */
  take({ urgency, isSignal }: EndRequest): Urgency | undefined {
    const before = this.#urgency;
    if (before === undefined) this.#askedAtMs = this.#nowMs();
    else if (before === 'now') return undefined;
    const isAgain = before !== undefined && isSignal && this.#nowMs() - this.#askedAtMs > SAME_REQUEST_MS;
    if (before === undefined || (before === 'drain' && urgency === 'soon')) this.#urgency = urgency;
    else if (isAgain) this.#urgency = 'now';
    return this.#urgency === before ? undefined : this.#urgency;
  }
}
