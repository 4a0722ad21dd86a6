/** Depots between an entry depot and an origin, over which something was met that the origin may not have caused. */
export type Between = readonly string[];

/** Those that may have caused what was met twice: who had part in both. None: it was the origin. */
export function suspectsOf(before: Between | undefined, now: Between): Between {
  return before?.filter((depot) => now.includes(depot)) ?? now;
}

/** Whether what these may have caused is to be expected over these depots. */
export function isExpected(suspects: Between, between: Between): boolean {
  return suspects.length === 0 || suspects.some((depot) => between.includes(depot));
}
