/** What is known of the way between two ends, in either direction. */
export interface LinkEstimate {
  readonly rttMs: number;
  readonly lossRate: number;
  /** Capacity of the narrowest place, bits per second; the measured goodput where no capacity is configured. */
  readonly rateBps: number;
  readonly windowBytes: number;
  /** TCP goodput that the depots measured with their own settings. */
  readonly goodputBps: number | undefined;
  /** Age of the oldest reported figure in it; `undefined` when all of it is configured. */
  readonly ageMs: number | undefined;
}

/** What the planner reads of the links: nothing else is known to it. Ends are depot ids, `client` and `origin`. */
export interface LinkView {
  /** The estimate of the link between two ends; `undefined` where round trip or rate are unknown. */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined;
  /** All pairs of which anything is known, or was. */
  pairs(): Iterable<readonly [one: string, other: string]>;
  /** Has `listener` told of each pair whose estimate may have changed. */
  onChange(listener: (one: string, other: string, nowMs: number) => void): void;
}
