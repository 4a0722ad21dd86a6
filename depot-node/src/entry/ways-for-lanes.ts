import type { Duplex } from 'node:stream';
import { originTarget } from '@longhaul/shared';
import type { LaneWays } from '../lanes/lane-ways.ts';
import { type MakeWay, openLane } from '../lanes/open-lane.ts';
import { tryInTurn } from '../racing/try-in-turn.ts';
import type { WatchedLeg } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import { isChainFailure, type OriginFetchComponents, type RequestFor, routeOf } from './origin-fetch.ts';
import type { Representation } from './representation.ts';
import type { Choice, RouteBook } from './route-book.ts';
import type { Target } from './target.ts';

interface WaysForLanesInit {
  readonly fetch: OriginFetchComponents;
  readonly book: RouteBook;
  readonly target: Target;
  readonly requestFor: RequestFor;
  readonly representation: Representation;
  /** Whether lanes use different chains of the plan, so that they need not share links. */
  readonly isSpread: boolean;
  readonly silenceMs: number;
  readonly watchLeg: (way: Duplex, choice: Choice) => WatchedLeg;
  readonly nowMs: () => number;
}

/** Of the plan's rate: a chain that promises less would only be one more that is slow. */
const LEAST_SHARE_OF_PLAN = 0.5;

/** Ways for lanes over the chains of a download; where one fails, over the next. */
export function waysForLanes(init: WaysForLanesInit): LaneWays {
  const { fetch, book, target, requestFor, representation, silenceMs, nowMs } = init;
  const { url } = target;
  const { headers } = requestFor(url);
  const makeWay =
    (lane: number): MakeWay =>
    (firstBytes, signal) =>
      tryInTurn(inOrderFor(lane, book, init.isSpread), {
        attempt: async (choice, own, onStands) => {
          const stream = await fetch.openWay(routeOf(choice, target, fetch.ownId), url, firstBytes, own);
          onStands();
          return { stream, chain: choice.chain, choice };
        },
        patienceMs: fetch.patienceMs,
        signal,
        isFinal: (failure, choice) => {
          if (!isChainFailure(failure)) return true;
          book.noteFailure(choice.chain, failure.depot);
          fetch.onChainFailed(choice.ticket.claims, failure);
          return false;
        },
        discard: ({ stream }) => resetConnection(stream),
      }).then(({ stream, chain, choice }) => {
        const leg = init.watchLeg(stream, choice);
        stream.once('close', () => leg.stop());
        return { stream, chain, promise: choice.promise };
      });
  return {
    open: (lane) =>
      openLane(makeWay(lane), { path: originTarget(url), headers, silenceMs, nowMs }, representation),
  };
}

/**
 * The plan's chain for every lane; where lanes are spread, another one of the good chains for each. Then all others, the
 * best first.
 */
function inOrderFor(lane: number, book: RouteBook, isSpread: boolean): Choice[] {
  const all = book.choices();
  const planned = all.reduce((most, { promise }) => Math.max(most, promise?.rateBps ?? 0), 0);
  const good = all.filter(
    ({ chain, promise }) =>
      book.failures(chain) === 0 && promise !== undefined && promise.rateBps >= planned * LEAST_SHARE_OF_PLAN,
  );
  const own = isSpread ? good[lane % Math.max(1, good.length)] : undefined;
  return own ? [own, ...all.filter((choice) => choice !== own)] : all;
}
