import type { Chain, GetOptions, OriginUrl, PlanAnswer, TicketKind } from '@longhaul/shared';
import type { EntryGroupConfig } from '../../config.ts';
import type { Place } from '../../prefixes/whereabouts.ts';
import type { Route } from '../decision/route.ts';
import type { chooseSignalling } from './choose-signalling.ts';
import type { SizeEstimate } from './size-estimate.ts';

export interface DownloadRequest {
  /** What was asked for, letter by letter, where that alone says which plan it is. */
  readonly target?: string;
  readonly url: OriginUrl;
  readonly options: GetOptions;
  readonly kind: TicketKind;
  readonly clientAddress: string;
  /** Whether the client has a beginning of the file, and wants all the rest. */
  readonly isResume?: boolean;
  /** Whether it is for a part of the file, or for its head alone. */
  readonly isPart?: boolean;
}

/** What a plan is made of, beside the request. */
export interface Decided {
  readonly size: SizeEstimate;
  readonly client: Place;
  readonly route: Route;
  readonly signalling: ReturnType<typeof chooseSignalling>;
  /** The entry group that the client is led to; `undefined`: to the entry depot itself. */
  readonly group: EntryGroupConfig | undefined;
}

/** What a plan was made by: the depots that were up, and how much was measured of its ends. */
export type KnownThen = Pick<IssuedPlan, 'upDepots' | 'known'>;

/** Where clients reach a depot. */
export interface DepotPlace {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** A plan as it is given out. */
export interface IssuedPlan {
  readonly jobId: string;
  readonly decision: Route['decision'];
  readonly chain: Chain;
  /** Whether the request itself chose the chain. */
  readonly isAsked: boolean;
  /** Whether it is not the best one that was known. */
  readonly isToLearn: boolean;
  readonly alternatives: readonly Chain[];
  readonly lanes: number;
  /** Where the client is sent. */
  readonly location: string;
  /**
   * The depots that it names as where the same bytes are, each where it was then: one that has moved is not
   * there any more.
   */
  readonly places: readonly DepotPlace[];
  /** The entry group whose name it leads to in their place; left out where it leads to the entry depot itself. */
  readonly group?: string;
  /** The ticket of a download that is led to its own entry depot, which may make the way to the origin ahead. */
  readonly aheadTicket?: string;
  /** What was asked for: nobody but the client follows redirects through a tunnel. */
  readonly kind: TicketKind;
  /** The host that the file is from, and its port. */
  readonly host: string;
  readonly port: number;
  /** The depots that were up when it was made. */
  readonly upDepots: string;
  /** How much was measured of its client and its origin then. */
  readonly known: string;
  /** Where else the same bytes are, best first: entry depots of alternatives, then the origin. */
  readonly duplicates: readonly string[];
  /** When its ticket's time to start ends, in seconds of the epoch. */
  readonly lastStartSeconds: number;
  /** When its ticket's life ends, in seconds of the epoch; left out where it has none. */
  readonly endOfLifeSeconds?: number;
  /** The ticket of a tunnel, which is no part of its location, and when its life ends, in seconds of the epoch. */
  readonly proxyTicket?: { readonly text: string; readonly endOfLife: number };
  /** For how many whole files its ticket is good. */
  readonly wholes: number;
  /** Entry depots that the client has come back from before it got this plan, the last one last. */
  readonly left: readonly string[];
  /** All that speaks for it, once somebody has asked. */
  readonly answer?: PlanAnswer;
}

/** Whether a route is what a plan was made of. */
export function isSameWay(plan: IssuedPlan, route: Route): boolean {
  const wayOf = ({ decision, chain, alternatives, lanes }: IssuedPlan | Route) =>
    JSON.stringify([decision, chain, alternatives, lanes]);
  return wayOf(plan) === wayOf(route);
}

/** How long what is kept of a plan is: about what its parts are. */
export function charsOf({ location, duplicates, answer, aheadTicket = '' }: IssuedPlan): number {
  const links = duplicates.reduce((sum, { length }) => sum + length, location.length + aheadTicket.length);
  return links + (answer ? JSON.stringify(answer).length : 0);
}
