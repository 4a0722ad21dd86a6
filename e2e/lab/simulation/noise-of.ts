/**
 * What of a world is drawn, by the last name of its draw: two figures of one end are never drawn by the same. Other
 * numbers are other draws, and so other worlds.
 */
export const NOISE_OF = {
  rtt: 1,
  loss: 2,
  goodput: 3,
  /** Which depot anywhere is a neighbour, too. */
  neighbour: 8,
  lyingDepot: 9,
  /** Whether anycast leads a client to the nearest site. */
  nearestSite: 11,
  /** To which one it leads otherwise. */
  nextSite: 12,
  /** The round trip that a master sees to a client. */
  seenRtt: 13,
  lyingClient: 14,
} as const;
