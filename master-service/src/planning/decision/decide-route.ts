import { type Chain, CLIENT, chainSeconds } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import { knowledgeOf } from '../links/leg-knowledge.ts';
import { predict, promiseOf } from '../search/chain-legs.ts';
import type { PlanningDepot, RatedChain } from '../search/chain-search.ts';
import { expectedSeconds, secondsAsKnown } from '../search/expected-seconds.ts';
import { chooseAlternatives } from './choose-alternatives.ts';
import { chooseToLearn } from './choose-to-learn.ts';
import { depotsToMeet } from './depots-to-meet.ts';
import { directTwin } from './direct-twin.ts';
import type { DownloadMap } from './download-map.ts';
import { DownloadTimes, fastestFirst, isGuessed, MOST_COMPARED } from './download-times.ts';
import { heldFirst, isChain, leastGain } from './held-ways.ts';
import { LearnedTimes } from './learned-times.ts';
import { pastOneSite } from './past-one-site.ts';
import type { Route, RouteQuery } from './route.ts';
import { explainLeftOut, explainRoute } from './route-reasons.ts';
import { whyDirect } from './why-direct.ts';

/**
 * What a chain must reach of the direct way by what is known alone, where that is worked out from what depots measured of both ends. The direct way is taken
 * to be as short as in one of four cases, and hardly lossy: a chain that reaches so much of that is as fast in the median, and many times faster where it is not so.
 */
const LEAST_GAIN_AS_KNOWN = { usually: 0.9, whereMuch: 0.8 } as const;
/** So much faster in the mean a chain may cost more of that: what set-up costs a small file is little beside what a lossy way costs it. */
const MUCH_GAIN = 1.3;

/** So many times as long as the direct way a chain may take by its downloads: what it gains is in the mean, and this is what is likeliest. */
const MOST_TIMES_DIRECT = 1.3;

/** How much faster a chain must be in the mean where nobody has measured one of its legs: only such a download teaches what it is like. */
const LEAST_GAIN_GUESSED = 1.02;

const NOBODY: ReadonlySet<string> = new Set();

interface DecisionInit {
  readonly config: PlannerConfig;
  readonly query: RouteQuery;
  readonly map: DownloadMap;
  readonly depots: readonly PlanningDepot[];
  /** Those of them that chains may pass. */
  readonly usable: readonly PlanningDepot[];
}

/** Decides between direct and the fastest chains, by the mean over what is unsure and by what clients of the network had. */
export function decideRoute({ config, query, map, depots, usable }: DecisionInit): Route {
  const { sizeBytes, avoid = [], isDirectPreferred = false } = query;
  const { minimumGain, maxAlternatives } = config;
  // Lanes are ranges.
  const asked = map.view.takesRanges === false ? { ...query, lanes: query.lanes ?? 1 } : query;
  const times = new DownloadTimes({ config, query: asked, depots });
  const searchOver = (over: readonly PlanningDepot[], entries?: ReadonlySet<string>) => {
    const known = entries && ((id: string) => (entries.has(id) ? map.link(CLIENT, id) : undefined));
    return over.length > 0 ? map.search(over, times.lanesToTry, known) : undefined;
  };
  const entries = map.knownEntries(usable);
  const search = searchOver(usable, entries);
  /** Where the entry depot fails, any other one is better than none. */
  const searchAll = () => (entries ? searchOver(usable) : search);
  const fastest = (search?.best(MOST_COMPARED) ?? []).map(times.suited);
  const rate = (chain: Chain) =>
    searchOver(usable.filter(({ id }) => chain.includes(id)))
      ?.best(MOST_COMPARED)
      .filter((one) => isChain(one, chain))
      .map(times.suited)[0];
  const { areAtOneSite } = map;
  const past = query.taken?.length ? pastOneSite({ fastest, search, usable, map }).map(times.suited) : [];
  const compared = [...fastest, ...past];
  const others = (query.taken ?? []).filter(({ chain }) => !compared.some((one) => isChain(one, chain)));
  const rated = [...compared, ...others.flatMap(({ chain }) => rate(chain) ?? [])];
  const learned = new LearnedTimes({ times, query, rated, areAtOneSite });
  const ordered = learned.inOrder();
  const ranked = heldFirst(ordered, query.held, sizeBytes, { expected: learned.expected, rate });
  const direct = map.direct(ranked[0]?.parts ?? []);
  const gainByLegs = (one: RatedChain, secondsOf = expectedSeconds) =>
    times.gain(one, direct.part, secondsOf);
  const gainOf = (one: RatedChain, secondsOf = expectedSeconds) =>
    learned.gainTaken(one, direct.part) * gainByLegs(one, secondsOf);
  const leastOf = (one: RatedChain) =>
    Math.min(
      leastGain(minimumGain, one.chain, query.held),
      isGuessed(one) ? LEAST_GAIN_GUESSED : minimumGain,
    );
  /** Whether downloads over a chain take longer than the direct way would: whatever the cause, it brings nothing. */
  const disappoints = (one: RatedChain) => {
    // The origin would think as long for who asks it directly.
    const thoughtSeconds = learned.thoughtSeconds(one);
    const directSeconds = learned.directSeconds(
      (bytes) => thoughtSeconds + chainSeconds(direct.legs, bytes, direct.setUp, 1),
    );
    return (learned.secondsTaken(one) ?? 0) > MOST_TIMES_DIRECT * directSeconds;
  };
  const isFaster = (one: RatedChain, gain: (one: RatedChain, secondsOf?: typeof expectedSeconds) => number) =>
    gain(one) >= leastOf(one) &&
    (direct.source !== 'ends' || gain(one, secondsAsKnown) >= leastAsKnown(gain(one)));
  // By their legs, and by what downloads took of late.
  const wins = (one: RatedChain) => isFaster(one, gainOf) && !disappoints(one);
  const [first] = ranked;
  // One that was put behind for what it took still counts against a direct way that it outdoes.
  const candidates = [first, ...(query.taken?.length ? [byLegs(rated, times)] : [])].filter(
    (one) => one !== undefined,
  );
  const winner = candidates.find(wins);
  const best = winner ?? first;
  const runnerUp = ranked.find((one) => one !== best);
  const gain = best ? gainOf(best) : 0;
  const taken = isDirectPreferred ? undefined : winner;
  // Worked out from the legs of a chain alone it would be compared with itself.
  const isDirectKnown = direct.source === 'link' || direct.source === 'ends';
  const directTimes = () => (isDirectKnown ? times.directInEach(direct.part) : undefined);
  /** Chains that begin with depots that may be nearer, where this download may be used to learn. */
  const overUnmet = () => {
    const unmet = query.exploring ? map.unmetEntries(usable) : NOBODY;
    return unmet.size > 0 ? (searchOver(usable, unmet)?.best(MOST_COMPARED) ?? []).map(times.suited) : [];
  };
  /** Where the direct way is taken by what is worked out of it, and nobody tells of it. */
  const isDirectUnseen = !taken && direct.source === 'ends' && !query.takenDirect?.length;
  const lookAtDirect = () =>
    directTwin({
      via: isDirectUnseen || query.exploring?.chain ? map.view.pair?.via : undefined,
      link: (one, other) => map.link(one, other),
      rate,
      directTimes,
      times: times.inEach,
      exploring: query.exploring,
    });
  const gains = isDirectPreferred
    ? undefined
    : chooseToLearn({
        ranked: [...overUnmet(), ...(query.exploring?.isToMeet ? [] : ordered)],
        chosen: taken,
        chosenTimes: query.exploring && (taken ? learned.inEach(taken) : directTimes()),
        times: taken ? learned.inEach : times.inEach,
        exploring: query.exploring,
      });
  const twin = isDirectPreferred || gains ? undefined : lookAtDirect();
  const toLearn = gains ?? twin;
  const chosen = toLearn ?? taken;
  const wouldWin = (over: readonly PlanningDepot[]): boolean => {
    const [other] = searchOver(over, map.knownEntries(over))?.best(1) ?? [];
    return other !== undefined && wins(other);
  };
  const decisionReason = toLearn
    ? 'to-learn'
    : chosen
      ? 'chain-faster'
      : whyDirect({
          config,
          depots,
          avoid,
          ranked,
          fasterByLegs: () => candidates.filter((one) => isFaster(one, gainByLegs)),
          isTaken: (one) => learned.isTaken(one),
          directLegs: direct.legs,
          wouldWin,
          isDirectPreferred,
        });
  const wider = chosen && searchAll();
  const alternatives =
    chosen && wider
      ? chooseAlternatives({
          best: chosen,
          search: wider,
          canBeginElsewhere: true,
          most: maxAlternatives,
          minimumGain,
        })
      : [];
  const calibration = chosen && learned.calibrationOf(chosen);
  const lanes = chosen?.lanes ?? 1;
  const legs = chosen?.legs ?? direct.legs;
  const setUp = chosen ? times.setUpOf(chosen.chain) : direct.setUp;
  // What direct downloads took too long is told as well: an add-on holds the rest of a download that has begun against the chain by it.
  const directBeside = (one: RatedChain | undefined) => {
    const predicted = direct.predict(sizeBytes);
    const times = Math.max(1, one ? learned.gainTaken(one, direct.part) : 1);
    return { ...predicted, seconds: times * predicted.seconds, goodputBps: predicted.goodputBps / times };
  };
  return {
    decision: chosen ? 'chain' : 'direct',
    decisionReason,
    chain: chosen?.chain ?? [],
    alternatives: alternatives.map(({ chain }) => chain),
    promises: [legs, ...alternatives.map((other) => other.legs)].map((each) => promiseOf(each, lanes)),
    lanes,
    basis: { legs, setUp, direct: direct.basis, calibration: chosen ? calibration : direct.calibration },
    expectedSeconds: chosen ? learned.expected(chosen) : 0,
    // Only who asks for reasons waits for them.
    get prediction() {
      if (!chosen) return direct.predict(sizeBytes);
      const thoughtSeconds = learned.thoughtSeconds(chosen);
      const knowledge = chosen.links.map(knowledgeOf);
      const predicted = predict({ ...chosen, knowledge, sizeBytes, setUp, calibration });
      return thoughtSeconds > 0 ? { ...predicted, thoughtSeconds } : predicted;
    },
    get direct() {
      return directBeside(chosen);
    },
    get toMeet() {
      return depotsToMeet({
        usable: usable.filter((depot) => map.isEntry(depot)),
        pair: map.view.pair,
        link: (one, other) => map.link(one, other),
      });
    },
    get reasons() {
      return [
        ...explainRoute({
          isLanesAsked: query.lanes !== undefined,
          best,
          runnerUp,
          decisionReason,
          minimumGain,
          gain,
          isSizeAssumed: query.isSizeAssumed ?? false,
          calibrationOf: (one) => learned.calibrationOf(one) ?? 1,
          isTaken: best !== undefined && learned.isTaken(best),
          direct: { ...directBeside(best), source: direct.source },
          isLineFilled: map.view.pair?.isLineFilled ?? false,
          timesDirect: learned.timesDirect(direct.part) ?? 1,
          chainLinks: chosen?.links ?? best?.links ?? [],
          toLearn,
          isToSeeDirect: twin !== undefined,
          isHeld: best !== ordered[0],
        }),
        ...explainLeftOut({
          depots,
          avoid,
          isEntry: (depot) => map.isEntry(depot),
          isReached: searchAll()?.isReached ?? (() => false),
        }),
      ];
    },
  };
}

/** What a chain that is so much faster in the mean must reach of direct by what is known. */
function leastAsKnown(gain: number): number {
  return gain >= MUCH_GAIN ? LEAST_GAIN_AS_KNOWN.whereMuch : LEAST_GAIN_AS_KNOWN.usually;
}

/** The fastest one by its legs alone. */
function byLegs(rated: readonly RatedChain[], times: DownloadTimes): RatedChain | undefined {
  return fastestFirst(rated, times.expected)[0];
}
