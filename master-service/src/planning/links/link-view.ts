import type { CongestionControl, EndName, FigureSource } from '@longhaul/shared';
import type { RttBounds } from './agreed-bounds.ts';
import type { LegDoubt } from './leg-scenarios.ts';

/** What is known of the way between two ends, in either direction. */
export interface LinkEstimate {
  readonly rttMs: number;
  readonly lossRate: number;
  /** Capacity of the narrowest place, bits per second; the measured goodput where no capacity is configured. */
  readonly rateBps: number;
  readonly windowBytes: number;
  /** What of it a client was seen to offer, where that is less. */
  readonly likelyWindowBytes?: number;
  /** TCP goodput that the depots measured with their own settings. */
  readonly goodputBps: number | undefined;
  /** Age of the oldest reported figure in it; `undefined` when all of it is configured. */
  readonly ageMs: number | undefined;
  /** How its round trip is known where it is neither measured nor configured. */
  readonly source?: Extract<FigureSource, 'derived' | 'assumed'>;
  /** How its rate is known where that is not measured; left out where it is configured. */
  readonly rateSource?: FigureSource;
  /** What the client's line may carry, where that is more than what the depot at the other end could send. */
  readonly lineBps?: number;
  /** How long packets wait before a client in queues that others fill, in ms, beside its round trip. */
  readonly queueMs?: number;
  /** How an origin at its end sends, where that is known. */
  readonly sender?: CongestionControl;
}

/** The ends of one download, as far as they are known. */
export interface DownloadEnds {
  /** The client's address. */
  readonly client?: string;
  /** The site that it counts as one of, which is named as its depot is. */
  readonly clientSite?: string;
  /** The origin's host. */
  readonly origin?: string;
}

/** What is known of the way between the two ends themselves. */
export interface PairKnowledge {
  /** Between what the round trip must lie, by the triangles that depots make with both ends. */
  readonly rttBounds: RttBounds | undefined;
  /** Whether the origin's servers stand in several places, so that the client meets one nearby. */
  readonly isInSeveralPlaces: boolean;
  /** What the origin gives to one connection, where it holds connections back. */
  readonly heldBps: number | undefined;
  /** The most that the origin was seen to give to one connection; 0 where it has given nobody anything. */
  readonly givenBps: number;
  /** A window that both ends were seen to have, in bytes; 0 where nobody has seen that. */
  readonly shownWindowBytes: number;
  readonly sender: CongestionControl | undefined;
  /** Whether others fill the client's line. */
  readonly isLineFilled: boolean;
  /** A depot whose legs to both ends show what the way between them is like. */
  readonly via: string | undefined;
  /** The depots that have measured the client. */
  readonly met: ReadonlySet<string>;
  /** The same, where one of them is near it; `undefined` where nobody knows which are. */
  readonly entries: ReadonlySet<string> | undefined;
  /** Beside these, depots that may be much nearer to it: only a download over one of them tells. */
  readonly unmet: ReadonlySet<string>;
  /**
   * Whether clients of the network have come to a depot itself, by either family: what the master of its site
   * has measured says nothing of that.
   */
  readonly hasCome: (depot: string) => boolean;
}

/** What the planner reads of the links: nothing else is known to it. Ends are depot ids, `client` and `origin`. */
export interface LinkView {
  /** The estimate of the link between two ends; `undefined` where round trip or rate are unknown. */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined;
  /** How unsure its figures are; left out where nobody says. */
  doubt?(one: string, other: string, nowMs: number): LegDoubt;
  /** The depots that may have a link to clients, or to origins; left out where each has to be asked for. */
  linkedWith?(end: EndName): ReadonlySet<string>;
  /** Whether two depots are at one site; left out where nobody knows sites. */
  areAtOneSite?(one: string, other: string): boolean;
  /** Of the client and the origin of one download; left out where they stand for everybody's. */
  readonly pair?: PairKnowledge;
  /** Whether parts of a file can be asked for; left out where nobody knows. */
  readonly takesRanges?: boolean;
  /** All pairs of which anything is known, or was. */
  pairs(): Iterable<readonly [one: string, other: string]>;
  /** Has `listener` told of each pair whose estimate may have changed. */
  onChange(listener: (one: string, other: string, nowMs: number) => void): void;
}
