import type { CrossTraffic, EmulatedLink, Topology } from '../network/topology.ts';

/** How a world is for a while: what crosses it, and which of its links differ from how they began. */
interface WorldState {
  readonly label: string;
  readonly crossTraffic?: readonly CrossTraffic[];
  readonly changed?: readonly LinkChange[];
}

export interface LinkChange {
  readonly link: readonly [string, string];
  readonly to: Partial<Pick<EmulatedLink, 'rateBps' | 'loss'>>;
}

/** Downloads in a row while the world is in one state. */
export interface Spell {
  readonly state: string;
  readonly downloads: number;
  /** Sites that download, and that are downloaded from, each with each; left out: all. */
  readonly clients?: readonly string[];
  readonly origins?: readonly string[];
}

/** A world of which the master is told nothing. */
export interface UnknownWorld {
  readonly topology: Topology;
  /** Where the master stands; clients are those of its region. */
  readonly master: string;
  readonly depots: readonly string[];
  readonly clients: readonly string[];
  readonly origins: readonly string[];
  readonly sizeBytes: number;
  readonly states: Readonly<Record<string, WorldState>>;
  /** The first one is how the world begins. */
  readonly spells: readonly Spell[];
}

/** A link whose queue holds 30 ms at its rate, unless `rest` says otherwise. */
export const worldLink = (
  one: string,
  other: string,
  rttMs: number,
  rateBps: number,
  rest: Partial<EmulatedLink> = {},
): EmulatedLink => ({
  between: [one, other],
  rttMs,
  rateBps,
  // 30 ms at the line rate, and never less than half a megabit.
  queue: { bytes: Math.max(65_536, Math.round((rateBps * 0.03) / 8)) },
  ...rest,
});
