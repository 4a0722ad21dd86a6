import type { ClientReport, LinkReport, OriginReport } from '@longhaul/shared';

/** A link as an operator would type it in. Ends are `client`, `origin` and depots. */
export interface TypedLink {
  readonly between: readonly [string, string];
  readonly rttMs: number;
  readonly lossRate: number;
  readonly rateBps: number;
  readonly windowBytes: number;
}

/** What a simulated world says to the master that is simulated with it, and asks it. */
export type PlannerOrder =
  /** Before anything else: what is typed in of the depots, and how many there are. */
  | { readonly type: 'begin'; readonly depots: number; readonly links: readonly TypedLink[] }
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
  | {
      readonly type: 'plan';
      readonly sizeBytes: number;
      readonly nowMs: number;
      /** What is known of this client and this origin. */
      readonly ends: readonly TypedLink[];
      /** Who they are, where the master is to find out by itself. */
      readonly who?: { readonly client: string; readonly origin: string };
    }
  | { readonly type: 'usage' };

/** Its answers, one for each order but reports of any kind and links, in order. */
export type PlannerAnswer =
  | { readonly type: 'ready' }
  | {
      readonly type: 'planned';
      /** The entry depot first; empty for direct. */
      readonly chain: readonly string[];
      readonly lanes: number;
      readonly predictedSeconds: number;
      readonly planMs: number;
      /** Depots that are to probe the origin. */
      readonly probes: readonly string[];
    }
  | { readonly type: 'usage'; readonly residentBytes: number; readonly cpuSeconds: number };
