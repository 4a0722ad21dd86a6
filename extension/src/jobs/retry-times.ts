const SECOND_MS = 1_000;

/**
 * Waits before the first attempts to go on after an interruption: most breaks are short, and another depot
 * may have the same name.
 */
export const FIRST_WAITS_MS = [0.25, 1, 4, 16].map((seconds) => seconds * SECOND_MS);
/** Wait before every later attempt. */
const LATER_WAIT_MS = 60 * SECOND_MS;
/** An interruption that lasts longer ends the attempts: who is away for a day decides when he is back. */
const LAST_TRY_MS = 24 * 3_600 * SECOND_MS;

/** So late comes no try while machine and browser are awake. */
const ASLEEP_MS = 120 * SECOND_MS;

/**
 * Since when somebody waits, without the time that nobody could try in: the machine slept, or the browser was
 * closed. What is due too far from now was set by a clock that has been set back.
 */
export function awakeWait(
  wait: { readonly sinceMs: number; readonly nextTryAtMs: number },
  nowMs: number,
): { readonly sinceMs: number; readonly nextTryAtMs: number } {
  const { sinceMs, nextTryAtMs } = wait;
  const lateMs = nowMs - nextTryAtMs;
  if (lateMs > ASLEEP_MS) return { sinceMs: sinceMs + lateMs, nextTryAtMs: nowMs };
  if (lateMs < -LATER_WAIT_MS) return { sinceMs: sinceMs + lateMs, nextTryAtMs: nowMs };
  return wait;
}

/** When to try again after so many attempts; `undefined` when the user has to say so. */
export function nextTryAtMs(sinceMs: number, tries: number, nowMs: number): number | undefined {
  const atMs = nowMs + (FIRST_WAITS_MS[tries] ?? LATER_WAIT_MS);
  return atMs - sinceMs > LAST_TRY_MS ? undefined : atMs;
}

/** For this long an interrupted download waits for its own depot alone: one that is started again is back by then. */
export const OWN_DEPOT_MS = 5 * SECOND_MS;

/**
 * Whether an interruption has lasted long enough to give the bytes on disk up for a download that starts from
 * the first one. That costs the time that the bytes on disk take once more; who has waited as long has, at
 * worst, spent twice what would have been best (the ski-rental rule: Karlin et al., "Competitive Snoopy
 * Caching", 1988).
 * @param wholeSeconds what the whole file is predicted to take over the new way
 * @param ownDepotMs for so long it is not worth it, whatever it costs
 */
export function isWorthStartingOver(
  waitedMs: number,
  {
    bytes,
    totalBytes,
    wholeSeconds,
    ownDepotMs,
  }: { bytes: number; totalBytes: number | undefined; wholeSeconds: number; ownDepotMs: number },
): boolean {
  const share = totalBytes === undefined ? 1 : Math.min(1, bytes / totalBytes);
  return waitedMs >= Math.max(ownDepotMs, wholeSeconds * share * SECOND_MS);
}
