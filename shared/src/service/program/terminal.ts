/** Standard input, output and error. */
const STANDARD_STREAMS = [0, 1, 2] as const;

/**
 * The terminal that a service was started in. A hang-up (SIGHUP) that comes with the end of that terminal means that
 * somebody has closed it; any other one is a request. A service without a terminal among its standard streams, as
 * `nohup` and supervisors start them, has none.
 */
export class Terminal {
  readonly #isTerminal: (descriptor: number) => boolean;
  readonly #streams: readonly number[];
  /** How often it was looked for and not there any more. */
  #missed = 0;

  /** @param isTerminal whether a descriptor is a terminal; no longer one after that was closed. */
  constructor(isTerminal: (descriptor: number) => boolean) {
    this.#isTerminal = isTerminal;
    this.#streams = STANDARD_STREAMS.filter((descriptor) => isTerminal(descriptor));
  }

  /**
   * To be called once a second: a service that went on without its terminal for that long was left alone on
   * purpose.
   */
  look(): void {
    this.#missed = this.#isClosed() ? this.#missed + 1 : 0;
  }

  /** Whether the hang-up that has come just now is that of the terminal. */
  get hangsUp(): boolean {
    return this.#missed < 2 && this.#isClosed();
  }

  #isClosed(): boolean {
    return this.#streams.some((descriptor) => !this.#isTerminal(descriptor));
  }
}
