/** What the two ends of every download are called where depots are called by their ids; no depot may have these. */
export const CLIENT = 'client';
export const ORIGIN = 'origin';

export type EndName = typeof CLIENT | typeof ORIGIN;

/** Whether this is an end of a download, and not a depot. */
export function isEnd(name: string): name is EndName {
  return name === CLIENT || name === ORIGIN;
}
