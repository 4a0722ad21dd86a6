import type { DecisionReason } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import { knowledgeOf } from '../links/leg-knowledge.ts';
import { predict, promiseOf } from '../search/chain-legs.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import { AgainstDirect } from './against-direct.ts';
import { Candidates } from './candidates.ts';
import { chooseAlternatives } from './choose-alternatives.ts';
import { chooseLesson, type Lesson } from './choose-lesson.ts';
import { depotsToMeet } from './depots-to-meet.ts';
import type { DirectWay, DownloadMap } from './download-map.ts';
import { DownloadTimes, fastestFirst } from './download-times.ts';
import { heldFirst } from './held-ways.ts';
import { LearnedTimes } from './learned-times.ts';
import type { Route, RouteQuery } from './route.ts';
import { explainLeftOut, explainRoute } from './route-reasons.ts';
import { whyDirect } from './why-direct.ts';

interface DecisionInit {
  readonly config: PlannerConfig;
  readonly query: RouteQuery;
  readonly map: DownloadMap;
  readonly depots: readonly PlanningDepot[];
  /** Those of them that chains may pass. */
  readonly usable: readonly PlanningDepot[];
}

/** The ways that a download has, with all that is known of each. */
interface Weighed {
  readonly times: DownloadTimes;
  readonly candidates: Candidates;
  readonly learned: LearnedTimes;
  readonly direct: DirectWay;
  readonly against: AgainstDirect;
  /** The candidates by their expected times. */
  readonly ordered: readonly RatedChain[];
  /** In the order in which they are wanted: what clients of the network have may come first. */
  readonly ranked: readonly RatedChain[];
}

/** One of them. */
interface Choice {
  /** The chain that is held against direct, whoever wins. */
  readonly best: RatedChain | undefined;
  /** What is taken; `undefined` for direct. */
  readonly chosen: RatedChain | undefined;
  readonly lesson: Lesson | undefined;
  readonly decisionReason: DecisionReason;
}

/**
 * Decides between direct and the fastest chains, by the mean over what is unsure and by what clients of the
 * network had.
 */
export function decideRoute(init: DecisionInit): Route {
  const weighed = weigh(init);
  return routeOf(init, weighed, choose(init, weighed));
}

function weigh({ config, query, map, depots, usable }: DecisionInit): Weighed {
  const { sizeBytes, held, taken = [] } = query;
  // Lanes are ranges.
  const asked = map.view.takesRanges === false ? { ...query, lanes: query.lanes ?? 1 } : query;
  const times = new DownloadTimes({ config, query: asked, depots });
  const candidates = new Candidates({ map, times, usable, taken });
  const learned = new LearnedTimes({ times, query, rated: candidates.all, areAtOneSite: map.areAtOneSite });
  const ordered = learned.inOrder();
  const ranked = heldFirst(ordered, held, sizeBytes, { expected: learned.expected, rate: candidates.rate });
  const direct = map.direct(ranked[0]?.parts ?? []);
  const against = new AgainstDirect({ direct, times, learned, query, minimumGain: config.minimumGain });
  return { times, candidates, learned, direct, against, ordered, ranked };
}

function choose(init: DecisionInit, weighed: Weighed): Choice {
  const { query } = init;
  const { candidates, times, learned, against, ranked } = weighed;
  const [first] = ranked;
  // One that was put behind for what it took still counts against a direct way that it outdoes.
  const [byLegs] = query.taken?.length ? fastestFirst(candidates.all, times.expected) : [];
  // Nor is a depot whose own way to the client is narrow a reason to leave those of others.
  const isElsewhere = (one: RatedChain) => !learned.isOfSlowEntry(one);
  const elsewhere = first && !isElsewhere(first) ? ranked.find(isElsewhere) : undefined;
  const rivals = [first, byLegs, elsewhere].filter((one) => one !== undefined);
  const winner = rivals.find(against.wins);
  const best = winner ?? first;
  if (query.isDirectPreferred) {
    return {
      best,
      chosen: undefined,
      lesson: undefined,
      decisionReason: reasonForDirect(init, weighed, rivals),
    };
  }
  const lesson = chooseLesson({ ...init, ...weighed, taken: winner });
  if (lesson) return { best, chosen: lesson.chain, lesson, decisionReason: 'to-learn' };
  const decisionReason = winner ? 'chain-faster' : reasonForDirect(init, weighed, rivals);
  return { best, chosen: winner, lesson: undefined, decisionReason };
}

/** Why direct is taken, and none of its rivals. */
function reasonForDirect(
  { config, query, depots }: DecisionInit,
  { candidates, learned, direct, against, ranked }: Weighed,
  rivals: readonly RatedChain[],
): DecisionReason {
  const { avoid = [], isDirectPreferred = false } = query;
  return whyDirect({
    config,
    depots,
    avoid,
    ranked,
    fasterByLegs: () => rivals.filter(against.isFasterByLegs),
    isTaken: (one) => learned.isTaken(one) || learned.isOfSlowEntry(one),
    directLegs: direct.legs,
    wouldWin: (over) => {
      const fastest = candidates.fastestOver(over);
      return fastest !== undefined && against.wins(fastest);
    },
    isDirectPreferred,
  });
}

/** The route as it is told. Who asks for reasons alone waits for them, and for predictions. */
function routeOf(init: DecisionInit, weighed: Weighed, choice: Choice): Route {
  const { query, map, usable } = init;
  const { times, learned, direct, against } = weighed;
  const { chosen, decisionReason } = choice;
  const { sizeBytes } = query;
  const alternatives = chosen ? alternativesTo(chosen, init, weighed) : [];
  const lanes = chosen?.lanes ?? 1;
  const legs = chosen?.legs ?? direct.legs;
  const setUp = chosen ? times.setUpOf(chosen.chain) : direct.setUp;
  const calibration = chosen ? learned.calibrationOf(chosen) : direct.calibration;
  return {
    decision: chosen ? 'chain' : 'direct',
    decisionReason,
    chain: chosen?.chain ?? [],
    alternatives: alternatives.map(({ chain }) => chain),
    promises: [legs, ...alternatives.map((other) => other.legs)].map((each) => promiseOf(each, lanes)),
    lanes,
    basis: { legs, setUp, direct: direct.basis, calibration },
    expectedSeconds: chosen ? learned.expected(chosen) : 0,
    get prediction() {
      if (!chosen) return direct.predict(sizeBytes);
      const thoughtSeconds = learned.thoughtSeconds(chosen);
      const knowledge = chosen.links.map(knowledgeOf);
      const predicted = predict({ ...chosen, knowledge, sizeBytes, setUp, calibration });
      return thoughtSeconds > 0 ? { ...predicted, thoughtSeconds } : predicted;
    },
    get direct() {
      return against.predictedBeside(chosen);
    },
    get toMeet() {
      return depotsToMeet({
        usable: usable.filter((depot) => map.isEntry(depot)),
        pair: map.view.pair,
        link: (one, other) => map.link(one, other),
      });
    },
    get reasons() {
      return reasonsOf(init, weighed, choice);
    },
  };
}

function alternativesTo(best: RatedChain, { config }: DecisionInit, { candidates }: Weighed): RatedChain[] {
  const search = candidates.wider();
  const { maxAlternatives: most, minimumGain } = config;
  return search ? chooseAlternatives({ best, search, canBeginElsewhere: true, most, minimumGain }) : [];
}

function reasonsOf(init: DecisionInit, weighed: Weighed, choice: Choice): string[] {
  const { config, query, map, depots } = init;
  const { candidates, learned, direct, against, ordered, ranked } = weighed;
  const { best, chosen, lesson, decisionReason } = choice;
  return [
    ...explainRoute({
      isLanesAsked: query.lanes !== undefined,
      best,
      runnerUp: ranked.find((one) => one !== best),
      decisionReason,
      minimumGain: config.minimumGain,
      gain: best ? against.gain(best) : 0,
      isSizeAssumed: query.isSizeAssumed ?? false,
      calibrationOf: (one) => learned.calibrationOf(one) ?? 1,
      isTaken: best !== undefined && learned.isTaken(best),
      direct: { ...against.predictedBeside(best), source: direct.source },
      isLineFilled: map.view.pair?.isLineFilled ?? false,
      timesDirect: learned.timesDirect(direct.part) ?? 1,
      chainLinks: chosen?.links ?? best?.links ?? [],
      toLearn: lesson?.chain,
      isToSeeDirect: lesson?.isToSeeDirect ?? false,
      isHeld: best !== ordered[0],
    }),
    ...explainLeftOut({
      depots,
      avoid: query.avoid ?? [],
      isEntry: (depot) => map.isEntry(depot),
      isSecureEnough: (depot) => map.isSecureEnough(depot),
      isExit: (depot) => map.isExit(depot.id),
      isReached: candidates.wider()?.isReached ?? (() => false),
    }),
  ];
}
