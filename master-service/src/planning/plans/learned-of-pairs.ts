import type { TakenWay, TimedDownload } from '../decision/taken-ways.ts';
import type { LedTo, OriginPlace } from './led-to.ts';

/** A client network and an origin. */
export interface Pair {
  /** A /24, or /48 of IPv6. */
  readonly network: string;
  readonly host: string;
}

/** What clients have said of plans. */
interface ClientWishes {
  /** Whether nobody has said anything. */
  readonly isEmpty: boolean;
  readonly avoidedBy: (network: string, nowMs: number) => readonly string[];
  readonly prefersDirect: (network: string, host: string, nowMs: number) => boolean;
}

/** How many times as long downloads between two ends take as the model says. */
interface PairCalibrations {
  readonly factor: (pair: Pair, nowMs: number) => number;
}

/** What downloads between two ends took, chain by chain, and directly. */
interface PairWays {
  readonly of: (pair: Pair, nowMs: number) => readonly TakenWay[];
  readonly direct: (pair: Pair, nowMs: number) => readonly TimedDownload[];
}

/** The hosts that others lead to; `undefined` for one that gives what is asked of it, as far as anybody knows. */
interface PairLeads {
  readonly mayLead: (host: string) => boolean;
  readonly of: (pair: Pair) => LedTo | undefined;
}

/** The depots that cannot connect to one of these origins. */
interface NotExits {
  readonly by: (origins: readonly OriginPlace[], nowMs: number) => ReadonlySet<string>;
}

/** What downloads and clients have shown of pairs of ends, and the links do not say; left out where nobody learns. */
export interface LearnedOfPairs {
  readonly wishes?: ClientWishes;
  readonly calibrations?: PairCalibrations;
  readonly ways?: PairWays;
  readonly leads?: PairLeads;
  readonly unreachedOrigins?: NotExits;
}
