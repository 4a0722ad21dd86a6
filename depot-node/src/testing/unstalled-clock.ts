/** How often it counts. */
const TICK_MS = 5;
/** The most that counts of the time between two ticks: more is this thread, or the machine, standing still. */
const MOST_COUNTED_MS = 20;

// Taken before any test puts timers of its own in their place.
const { setInterval } = globalThis;
const realMs = performance.now.bind(performance);
let countedMs = 0;
let tickedAtMs: number | undefined;

/**
 * A steady clock that does not count what a busy machine takes from this thread: by it an origin that answers
 * at once has answered at once. It lags behind real time, so nothing that waits for real time may go by it.
 */
export function unstalledMs(): number {
  if (tickedAtMs === undefined) {
    tickedAtMs = realMs();
    setInterval(tick, TICK_MS).unref();
  }
  return countedMs + Math.min(realMs() - tickedAtMs, MOST_COUNTED_MS);
}

function tick(): void {
  countedMs = unstalledMs();
  tickedAtMs = realMs();
}
