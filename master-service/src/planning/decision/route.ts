import type { Chain, ChainPromise, DecisionReason, Prediction } from '@longhaul/shared';
import type { Decision } from '../../events.ts';
import type { DownloadEnds } from '../links/link-view.ts';
import type { Exploring } from './choose-to-learn.ts';
import type { HeldWay } from './held-ways.ts';
import type { RouteBasis } from './route-basis.ts';
import type { TakenWay, TimedDownload } from './taken-ways.ts';

/**
 * What downloads took over a chain, and how long of that the origin thinks before it answers: it would over
 * every way, be it the direct one.
 */
export interface WaitedWay extends TakenWay {
  /** Left out where nobody knows. */
  readonly thoughtSeconds?: number;
}

export interface RouteQuery {
  readonly sizeBytes: number;
  /** Nobody knows the size: a chain is taken where it gains over all sizes that a file often has, up to this one. */
  readonly isSizeAssumed?: boolean;
  readonly originTls: boolean;
  /** Clients may be led only to entry depots that speak TLS. */
  readonly needsTlsEntry?: boolean;
  /** Whom it is for, and where from; left out, `client` and `origin` stand for everybody's. */
  readonly ends?: DownloadEnds;
  /** Exactly these depots, in the order the bytes pass: origin to client, the opposite of a chain's order. */
  readonly via?: readonly string[];
  readonly avoid?: readonly string[];
  /** Depots that cannot connect to the origin: no chain ends with them. */
  readonly notExits?: ReadonlySet<string>;
  /** No chain is wanted, however fast. */
  readonly isDirectPreferred?: boolean;
  /** What clients of this network got last from this origin. */
  readonly held?: HeldWay;
  /** Said where this download may be used to learn. */
  readonly exploring?: Exploring | undefined;
  /** How many times as long downloads of these ends take as the model says; left out where nobody knows. */
  readonly calibration?: number;
  /** What downloads of these ends took, chain by chain. */
  readonly taken?: readonly WaitedWay[];
  /** The same of those that went directly, the newest first. */
  readonly takenDirect?: readonly TimedDownload[];
  /** How often each depot of a chain fails where all that has come is then lost; left out where only a pause is. */
  readonly depotBreaksPerSecond?: number;
  /** Exactly so many lanes where a chain is taken; without it as many as pay, or one with `via`. */
  readonly lanes?: number;
}

/** A running download that its entry depot wants another way for. */
export interface RerouteQuery {
  readonly sizeBytes: number;
  readonly originTls: boolean;
  readonly ends?: DownloadEnds;
  readonly entry: string;
  /** Depots that failed. */
  readonly avoid: readonly string[];
  /** Depots that cannot connect to the origin: no chain ends with them. */
  readonly notExits?: ReadonlySet<string>;
  /** The lanes that the download runs with. */
  readonly lanes: number;
}

/** Chains for one ticket, the best first, and what they promise. */
export interface PromisedChains {
  readonly chains: readonly Chain[];
  readonly promises: readonly ChainPromise[];
}

/** The planner's decision for one download. Chains have their entry depot first. */
export interface Route {
  readonly decision: Decision;
  readonly decisionReason: DecisionReason;
  /** Empty for `direct`. */
  readonly chain: Chain;
  readonly alternatives: readonly Chain[];
  /** Of the chain, then of the alternatives, all with the route's lanes. */
  readonly promises: readonly ChainPromise[];
  /** 1 for `direct`. */
  readonly lanes: number;
  readonly prediction: Prediction;
  readonly direct: Prediction;
  /** The mean over what is unsure; 0 for direct and for chains that were asked for. */
  readonly expectedSeconds: number;
  /** What the prediction was worked out from. */
  readonly basis: RouteBasis;
  /** Depots that would know more of the client if it greeted them; left out where nobody is asked. */
  readonly toMeet?: readonly string[];
  /** Sentences for people. */
  readonly reasons: readonly string[];
}
