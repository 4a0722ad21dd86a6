import type { RatedChain } from '../search/rated-chain.ts';
import type { Candidates } from './candidates.ts';
import { chooseToLearn } from './choose-to-learn.ts';
import { directTwin } from './direct-twin.ts';
import type { DirectWay, DownloadMap } from './download-map.ts';
import type { DownloadTimes } from './download-times.ts';
import type { LearnedTimes } from './learned-times.ts';
import type { RouteQuery } from './route.ts';

/** A chain that is taken in place of what is best, to learn from it. */
export interface Lesson {
  readonly chain: RatedChain;
  /** It shows what the direct way is like; others may turn out to be better. */
  readonly isToSeeDirect: boolean;
}

interface LessonInit {
  readonly query: Pick<RouteQuery, 'exploring' | 'takenDirect'>;
  readonly map: DownloadMap;
  readonly times: DownloadTimes;
  readonly candidates: Candidates;
  readonly learned: LearnedTimes;
  readonly direct: DirectWay;
  /** The candidates by their expected times. */
  readonly ordered: readonly RatedChain[];
  /** What is taken otherwise; `undefined` for direct. */
  readonly taken: RatedChain | undefined;
}

/** What this download takes to learn; `undefined` where nothing is to be learned, or would cost too much. */
export function chooseLesson(init: LessonInit): Lesson | undefined {
  const { query, map, times, candidates, learned, direct, ordered, taken } = init;
  const { exploring } = query;
  // Worked out from the legs of a chain alone it would be compared with itself.
  const isDirectKnown = direct.source === 'link' || direct.source === 'ends';
  const directTimes = () => (isDirectKnown ? times.directInEach(direct.part) : undefined);
  const better = chooseToLearn({
    ranked: exploring ? [...candidates.overUnmet(), ...(exploring.isToMeet ? [] : ordered)] : [],
    chosen: taken,
    chosenTimes: exploring && (taken ? learned.inEach(taken) : directTimes()),
    times: taken ? learned.inEach : times.inEach,
    exploring,
  });
  if (better) return { chain: better, isToSeeDirect: false };
  /** The direct way is taken by what is worked out of it, and nobody tells of it. */
  const isDirectUnseen = !taken && direct.source === 'ends' && !query.takenDirect?.length;
  const twin = directTwin({
    via: isDirectUnseen || exploring?.chain ? map.view.pair?.via : undefined,
    link: (one, other) => map.link(one, other),
    rate: candidates.rate,
    directTimes,
    times: times.inEach,
    exploring,
  });
  return twin && { chain: twin, isToSeeDirect: true };
}
