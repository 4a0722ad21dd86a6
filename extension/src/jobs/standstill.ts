/** How long nothing has come to a running job, as far as the looks at it tell. */
export interface Standstill {
  /** The last look, and what the browser said then. */
  readonly atMs: number;
  readonly bytes: number;
  /** Since when it says so. */
  readonly sinceMs: number;
  /** Whether it said less before: what has not begun does not stand still. */
  readonly hasMoved: boolean;
  /** Whether this look comes too late to say anything of the time since the one before. */
  readonly isLate: boolean;
  /** Whether somebody is asked why, or has been. */
  readonly isKnown: boolean;
}

/** A look that comes so much later than the one before says nothing of the time between: the machine may have slept. */
const LATE_LOOK_MS = 2_500;

/** Whether the look before is so long ago that nothing can be said of the time since. */
function isLateLook(before: Standstill | undefined, atMs: number): boolean {
  return before !== undefined && (atMs < before.atMs || atMs - before.atMs > LATE_LOOK_MS);
}

/** The standstill at this look, by the one before: after so long somebody is to be asked why. */
function standstillAt(
  before: Standstill | undefined,
  look: Pick<Standstill, 'atMs' | 'bytes'>,
  afterMs: number,
): Standstill {
  const still = soFar(before, look);
  const isLate = isLateLook(before, look.atMs);
  return { ...still, isLate, isKnown: still.isKnown || isToBeAsked(still, afterMs) };
}

/** Bytes that come again count, too, as they do after a resumption. */
function soFar(before: Standstill | undefined, look: Pick<Standstill, 'atMs' | 'bytes'>): Standstill {
  const anew = { ...look, sinceMs: look.atMs, isKnown: false, isLate: false };
  if (!before || look.bytes < before.bytes) return { ...anew, hasMoved: false };
  if (look.bytes > before.bytes) return { ...anew, hasMoved: true };
  return { ...before, atMs: look.atMs, ...(isLateLook(before, look.atMs) ? { sinceMs: look.atMs } : {}) };
}

/** Whether it is time to ask why nothing comes. */
function isToBeAsked({ atMs, sinceMs, hasMoved }: Standstill, afterMs: number): boolean {
  return hasMoved && atMs - sinceMs >= afterMs;
}

/** How a job is seen standing still: a part of its own, which only those have who do something about it. */
export const standstillLooks = { standstillAt };
