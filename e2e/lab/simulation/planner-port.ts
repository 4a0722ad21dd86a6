import type {
  ClientReport,
  DecisionReason,
  LegEstimate,
  LegKnowledge,
  LinkReport,
  OriginReport,
} from '@longhaul/shared';

/** A link as an operator would type it in. Ends are `client`, `origin` and depots. */
export interface TypedLink {
  readonly between: readonly [string, string];
  readonly rttMs: number;
  readonly lossRate: number;
  readonly rateBps: number;
  readonly windowBytes: number;
}

/** A client's address, and an origin's host. */
export interface Pair {
  readonly client: string;
  readonly origin: string;
}

/** A download as its depots tell of it. */
interface ToldDownload {
  readonly jobId: string;
  readonly chain: readonly string[];
  readonly lanes: number;
  readonly bodyBytes: number;
  readonly seconds: number;
  /** How many times as long as the model said when it was planned. */
  readonly timesPlanned: number;
  /** Whether the depot behind the entry depot says so as well. */
  readonly isSeconded: boolean;
}

/** What a simulated world says to the master that is simulated with it, and asks it. */
export type PlannerOrder =
  /**
   * Before anything else: what is typed in of the depots, how many there are, and where a master before this
   * one has left what it had learned.
   */
  | {
      readonly type: 'begin';
      readonly depots: number;
      readonly links: readonly TypedLink[];
      readonly stateDir: string;
      readonly nowMs: number;
    }
  /** Write down what was learned, as masters do every half a minute. */
  | { readonly type: 'save'; readonly nowMs: number }
  /** What is known of the links between depots from now on, in place of all that was known. */
  | { readonly type: 'links'; readonly links: readonly TypedLink[] }
  /** What a depot measured on its connections to another one. */
  | { readonly type: 'report'; readonly from: string; readonly report: LinkReport; readonly nowMs: number }
  /** What a depot measured on its connections to clients, or from origins. */
  | {
      readonly type: 'ends-report';
      readonly from: string;
      readonly clients: readonly ClientReport[];
      readonly origins: readonly OriginReport[];
      readonly nowMs: number;
    }
  /** What a download took that came whole over the chain that was planned for it, as its depots tell. */
  | {
      readonly type: 'outcome';
      readonly who: Pair;
      readonly download: ToldDownload;
      readonly nowMs: number;
    }
  /** A client network wants no chain from this origin, and says that these depots have failed. */
  | {
      readonly type: 'complaint';
      readonly who: Pair;
      readonly depots: readonly string[];
      readonly nowMs: number;
    }
  | {
      readonly type: 'plan';
      readonly sizeBytes: number;
      readonly nowMs: number;
      /** What is known of this client and this origin. */
      readonly ends: readonly TypedLink[];
      /** Who they are, where the master is to find out by itself. */
      readonly who?: Pair;
      /** What is believed is wanted, too. */
      readonly isExplained: boolean;
    }
  /** All depots are heard once, after a download of this pair was planned. */
  | { readonly type: 'heard'; readonly who: Pair; readonly nowMs: number }
  | { readonly type: 'usage' };

/** What a plan goes by. */
export interface Believed {
  readonly reason: DecisionReason;
  /** What the direct way was rated by, and where that is from. */
  readonly direct: { readonly leg: LegEstimate | undefined; readonly source: string };
  /** Of the chain that is taken, from the client on; of the direct way where none is. */
  readonly legs: readonly (LegEstimate & LegKnowledge)[];
}

/** Its answers, in order: one for each order but those that only tell it something. */
export type PlannerAnswer =
  | {
      readonly type: 'ready';
      /** Facts that are known again, and lines of the file that said nothing of use. */
      readonly facts: number;
      readonly refused: number;
    }
  | {
      readonly type: 'saved';
      /** Of the file. */
      readonly bytes: number;
      readonly seconds: number;
    }
  | {
      readonly type: 'planned';
      /** The entry depot first; empty for direct. */
      readonly chain: readonly string[];
      readonly lanes: number;
      readonly predictedSeconds: number;
      /** The same without what downloads of these ends have taught. */
      readonly modelSeconds: number;
      readonly planMs: number;
      readonly believed?: Believed;
    }
  /** Depots that are to probe the origin. */
  | { readonly type: 'probing'; readonly depots: readonly string[] }
  | { readonly type: 'usage'; readonly residentBytes: number; readonly cpuSeconds: number };
