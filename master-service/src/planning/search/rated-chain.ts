import type { Chain, LegEstimate } from '@longhaul/shared';
import type { LinkEstimate } from '../links/link-view.ts';
import type { OverlayLeg } from './overlay-leg.ts';

/** A chain that a search has found, and how fast its legs make it. */
export interface RatedChain {
  /** The entry depot first. */
  readonly chain: Chain;
  readonly legs: readonly LegEstimate[];
  /** What its legs are made of. */
  readonly links: readonly LinkEstimate[];
  readonly parts: readonly OverlayLeg[];
  /** Whether the entry depot speaks TLS with clients. */
  readonly clientTls: boolean;
  /** What its depots leave to it, segments per second. */
  readonly roomPerSecond: number;
  readonly lanes: number;
  /** Predicted completion time with these lanes, breaks counted. */
  readonly seconds: number;
}

/** Which chains are sought; all of them where nothing is said. */
export interface ChainWish {
  readonly entry?: string;
  /** Any entry depot but this one. */
  readonly otherEntry?: string;
  /** Depots that they must not pass. */
  readonly without?: readonly string[];
  readonly minDepots?: number;
  /** Exactly so many lanes, of the question's choices. */
  readonly lanes?: number;
}
