import {
  type Chain,
  CLIENT,
  type DecisionReason,
  type EndName,
  formatBps,
  legGoodput,
  ORIGIN,
  type Prediction,
} from '@longhaul/shared';
import type { LinkEstimate } from '../links/link-view.ts';
import { legEnds, limitingLeg } from '../search/chain-legs.ts';
import type { DirectEstimate } from '../search/direct-estimate.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';

/** Said where predictions were off by so much. */
const TELLING_CALIBRATION = 1.1;

type Predicted = Pick<Prediction, 'seconds' | 'calibration'>;

interface RouteFacts {
  readonly best: RatedChain | undefined;
  readonly runnerUp: RatedChain | undefined;
  readonly decisionReason: DecisionReason;
  readonly minimumGain: number;
  /** How many times faster the best chain is. */
  readonly gain: number;
  readonly isSizeAssumed: boolean;
  /** How many times as long as its legs say a chain is predicted to take. */
  readonly calibrationOf: (rated: RatedChain) => number;
  /** Whether downloads of these ends took the best chain. */
  readonly isTaken: boolean;
  /** Whether the client chose the number of lanes. */
  readonly isLanesAsked: boolean;
  readonly direct: Predicted & { readonly source: DirectEstimate['source'] };
  /** Whether others fill the client's line. */
  readonly isLineFilled: boolean;
  /** How many times as long as is worked out of it direct downloads took. */
  readonly timesDirect: number;
  readonly chainLinks: readonly LinkEstimate[];
  /** What is taken in its place, to learn. */
  readonly toLearn: RatedChain | undefined;
  /** Whether that is to show what the direct way is like. */
  readonly isToSeeDirect: boolean;
  /** Whether the best is not the fastest, but what clients of this network had. */
  readonly isHeld: boolean;
}

interface DepotFacts {
  readonly depots: readonly PlanningDepot[];
  readonly avoid: readonly string[];
  /** Whether the client can be led to it. */
  readonly isEntry: (depot: PlanningDepot) => boolean;
  /** Whether its leg to the client has the secrecy that the download asks for. */
  readonly isSecureEnough: (depot: PlanningDepot) => boolean;
  /** Whether it can connect to the origin, as far as it has told. */
  readonly isExit: (depot: PlanningDepot) => boolean;
  /** Whether known links lead from an end over usable depots to this one. */
  readonly isReached: (from: EndName, id: string) => boolean;
}

/** Why a route was chosen, in sentences for people. */
export function explainRoute(facts: RouteFacts): string[] {
  const { best, decisionReason, isLanesAsked, isHeld, toLearn, isToSeeDirect } = facts;
  return [
    ...compare(facts),
    ...(isHeld ? [HELD] : []),
    ...calibrated(facts),
    ...directTaken(facts),
    ...(toLearn ? [explainLearning(toLearn, isToSeeDirect)] : []),
    ...directCause(decisionReason),
    ...(best && decisionReason === 'chain-faster' ? explainLanes(best, isLanesAsked) : []),
    ...directSource(facts),
    ...measurements(facts.chainLinks),
  ];
}

/** Why a chain has so many lanes; nothing of a single one. */
export function explainLanes(
  { chain, legs, lanes }: Pick<RatedChain, 'chain' | 'legs' | 'lanes'>,
  isAsked: boolean,
): string[] {
  const name = `${lanes} lanes`;
  if (lanes === 1) return [];
  if (isAsked) return [`${name}, as the client asks.`];
  const index = limitingLeg(legs);
  const leg = legs[index];
  const sender = legEnds(chain)[index]?.[1];
  if (!leg || sender === undefined) return [];
  const from = sender === ORIGIN ? 'the origin' : sender;
  const { goodputBps, limit } = legGoodput(leg);
  if (limit === 'rate' && leg.connectionBps === undefined)
    return [`${name}: they start up faster than one connection from ${from}.`];
  const causes = { rate: 'as measured', loss: 'because of loss', window: 'because of its window' };
  return [
    `${name}: one connection from ${from} is predicted to carry ${formatBps(goodputBps)}, ${causes[limit]}.`,
  ];
}

/** A duration for people. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function compare({
  best,
  runnerUp,
  decisionReason,
  minimumGain,
  gain,
  isSizeAssumed,
  calibrationOf,
  direct,
}: RouteFacts): string[] {
  if (!best) return [];
  const predicted = (one: RatedChain): Predicted => ({
    seconds: calibrationOf(one) * one.seconds,
    calibration: calibrationOf(one),
  });
  const times = `${formatChain(best.chain)} is predicted to take ${sayPredicted(predicted(best))}, a direct download ${sayPredicted(direct)}`;
  const mean = isSizeAssumed ? ', in the mean over sizes down to a thousandth' : '';
  const verdict =
    decisionReason === 'chain-faster'
      ? `${times}: by these estimates ${gain.toFixed(1)} times faster${mean}.`
      : `${times}. A chain is taken only where it is at least ${minimumGain} times faster${mean}.`;
  if (!runnerUp) return [verdict];
  return [verdict, `Runner-up: ${formatChain(runnerUp.chain)}, ${sayPredicted(predicted(runnerUp))}.`];
}

/** By the legs alone chains are held against direct: both are said where they differ much. */
function sayPredicted({ seconds, calibration = 1 }: Predicted): string {
  const byLegs = isTelling(calibration) ? ` (${formatSeconds(seconds / calibration)} by its legs)` : '';
  return `${formatSeconds(seconds)}${byLegs}`;
}

function isTelling(calibration: number): boolean {
  return Math.max(calibration, 1 / calibration) >= TELLING_CALIBRATION;
}

function calibrated({ best, calibrationOf, isTaken }: RouteFacts): string[] {
  const calibration = best ? calibrationOf(best) : 1;
  if (!isTelling(calibration)) return [];
  const over = isTaken ? ' over this chain' : '';
  return [
    `Downloads of your network from this origin took ${calibration.toFixed(1)} times as long${over} as their legs say, of late: that is counted.`,
  ];
}

function directTaken({ timesDirect }: RouteFacts): string[] {
  if (!isTelling(timesDirect)) return [];
  return [
    `Direct downloads of your network from this origin took ${timesDirect.toFixed(1)} times as long as is worked out of that way, of late: that is counted.`,
  ];
}

function explainLearning({ chain, seconds }: RatedChain, isToSeeDirect: boolean): string {
  const why = isToSeeDirect
    ? 'it shows what the direct way is like, of which nobody tells'
    : 'it may turn out faster';
  return `${formatChain(chain)} is taken to learn (${formatSeconds(seconds)}): ${why}, and hardly slower.`;
}

const HELD = 'Your network had this chain already: the fastest one is not clearly faster.';

/** What keeps a download from a chain, beside the predicted times. */
const DIRECT_CAUSES: Partial<Record<DecisionReason, string>> = {
  'chains-off': 'The operator has turned chains off: every download goes direct.',
  'no-depots': 'This master has no depots: every download goes direct.',
  'no-depot-up': 'No depot is up: downloads go direct until one is.',
  'depots-avoided': 'The request avoids depots without which no chain is clearly faster.',
  'direct-preferred': 'Clients of this network asked for direct downloads from this origin.',
  'links-unknown': 'Depots are up, but no chain of known links leads from the client to the origin.',
  'chain-disappoints':
    'By its legs a chain would be clearly faster, but downloads of your network over it took too long, of late: it is tried again when that is forgotten.',
  'small-file': 'A larger file would gain from a chain.',
};

function directCause(reason: DecisionReason): string[] {
  const cause = DIRECT_CAUSES[reason];
  return cause === undefined ? [] : [cause];
}

function directSource({ direct, isLineFilled }: RouteFacts): string[] {
  if (direct.source === 'link') return [];
  if (direct.source === 'ends')
    return [
      'The direct way is worked out from what depots have measured of the client and of the origin.',
      ...(isLineFilled ? ['Others fill the line of your network: that is counted.'] : []),
    ];
  return direct.source === 'chain'
    ? ["No estimate of the link client - origin: the direct way is derived from the chain's legs."]
    : ['No estimate of the link client - origin: assumptions are used for the direct way.'];
}

function measurements(links: readonly LinkEstimate[]): string[] {
  if (links.length === 0) return [];
  const unknown = links.filter(({ source }) => source).length;
  if (unknown > 0)
    return [
      `Of the ${links.length} links of the chain ${unknown} were not measured, but worked out or assumed.`,
    ];
  const ages = links.flatMap((link) => (link.ageMs === undefined ? [] : [link.ageMs]));
  if (ages.length === 0) return ['No depot has measured these links: the operator configured their figures.'];
  const when = `within the last ${formatSeconds(Math.max(...ages) / 1000)}`;
  return ages.length === links.length
    ? [`Depots have measured all ${links.length} links of the chain ${when}.`]
    : [
        `Depots have measured ${ages.length} of the ${links.length} links of the chain ${when}; the operator configured the others.`,
      ];
}

/** Of every depot that no chain could pass, or begin with, why. */
export function explainLeftOut(facts: DepotFacts): string[] {
  const { depots, avoid, isEntry, isSecureEnough, isExit, isReached } = facts;
  return depots.flatMap((depot) => {
    const { id, state, onlyFamily } = depot;
    if (avoid.includes(id)) return [`Left out: ${id}, which the client avoids.`];
    if (state === 'lost') return [`Left out: ${id}, which sends no heartbeats.`];
    if (state === 'unproved') return [`Left out: ${id}, which has not proved its address.`];
    if (state === 'draining') return [`Left out: ${id}, which takes no new downloads.`];
    if (!isSecureEnough(depot))
      return [
        `Left out as entry depot: ${id}, which speaks no TLS: the client would lose that of its download.`,
      ];
    if (!isEntry(depot))
      return [`Left out as entry depot: ${id}, which clients reach by ${onlyFamily} alone.`];
    const lacks = [
      ...(isEntry(depot)
        ? []
        : [`Left out as entry depot: ${id}, which clients reach by ${onlyFamily} alone.`]),
      ...(isExit(depot)
        ? []
        : [`Left out as exit depot: ${id}, which could not connect to the origin of late.`]),
    ];
    if (lacks.length > 0) return lacks;
    const lacking = ([CLIENT, ORIGIN] as const).find((end) => !isReached(end, id));
    return lacking === undefined
      ? []
      : [`Left out: ${id}, because no known links lead from it to the ${lacking}.`];
  });
}

function formatChain(chain: Chain): string {
  return [CLIENT, ...chain, ORIGIN].join(' - ');
}
