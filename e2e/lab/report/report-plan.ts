import type { TransferLine } from '../results/transfer-line.ts';

/** Which page a result becomes. */
export type ReportKind = 'matrix' | 'rnp' | 'split' | 'signalling' | 'failover';

/** One case of an experiment, in the order in which it stands on the page. */
export interface ReportScenario {
  /** As in the result lines. */
  readonly id: string;
  /** For people, for example `no loss, large buffer`. */
  readonly label: string;
  /** Scenarios of one group share a chart: the paper's scenario in `rnp`, the congestion control in `split`. */
  readonly group?: string;
  /** Only `rnp`: what the x axis shows, in rising order, for example the number of flows of cross traffic. */
  readonly level?: number;
  /** Why it is there. */
  readonly why?: string;
  /** What no transfer can exceed, goodput of the whole transfer. */
  readonly boundBps?: number;
  /** What the model says, by variant. */
  readonly predictedBps?: Readonly<Record<string, number>>;
  /** Only `signalling`: what the model says about the time to first byte, by variant. */
  readonly predictedMs?: Readonly<Record<string, number>>;
  /** Only `signalling`: one round trip between client and origin, to tell times in round trips. */
  readonly rttMs?: number;
}

export interface ReportVariant {
  /** As in the result lines. `direct` and `ranges8` are what others are compared with. */
  readonly id: string;
  /** For people, for example `chain of 3 depots`; short (25 letters or fewer), it stands beside charts. */
  readonly label: string;
  /** Goes through a master of ours, whatever it then chooses; the sentences compare these with the others. */
  readonly isLonghaul: boolean;
  /**
   * Connections of the client's own, at once; 1 when left out. What a client does by itself is compared with
   * its like.
   */
  readonly clientConnections?: number;
  /** Id of the variant that it differs from in one thing only; a sentence compares the two. */
  readonly baseline?: string;
}

/** How a target came out: `measured` is text for the table, for example `5.7 [4.9, 6.6]`. */
export interface TargetOutcome {
  readonly measured: string;
  /** null: this result has not the lines to say so. */
  readonly isMet: boolean | null;
}

/** A promise that a result is held against. */
export interface ReportTarget {
  /** Id of the scenario it speaks of; any text when it speaks of several. */
  readonly scenario: string;
  /** For example `at least 5 x direct`. */
  readonly text: string;
  /** Is given all lines of the result. */
  readonly check: (lines: readonly TransferLine[]) => TargetOutcome;
}

/** All that a page needs beside the lines: an experiment describes itself with it. */
export interface ReportPlan {
  readonly kind: ReportKind;
  readonly title: string;
  /** What was asked, a sentence or two. */
  readonly question: string;
  /** How it was measured: topology, buffers, congestion controls, file; one list item each, Markdown. */
  readonly method: readonly string[];
  readonly scenarios: readonly ReportScenario[];
  readonly variants: readonly ReportVariant[];
  readonly targets?: readonly ReportTarget[];
  /** Only `rnp`: what `level` counts, the x axis' title; `flows of cross traffic` when left out. */
  readonly levelLabel?: string;
}
