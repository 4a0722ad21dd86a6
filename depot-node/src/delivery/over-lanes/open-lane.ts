import type { Duplex } from 'node:stream';
import { type Chain, isSameChain, isWayFailure } from '@longhaul/shared';
import type { WatchedLeg } from '../../estimates/leg-sampler.ts';
import type { NewConnection } from '../../lanes/lane.ts';
import type { LaneView } from '../../lanes/lane-transfer.ts';
import type { LanesConfig } from '../../lanes/lanes-config.ts';
import type { OpenStream } from '../../origin/origin-connection.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import { tryInTurn } from '../../racing/try-in-turn.ts';
import type { FetchedAnswer, Fetcher } from '../../routes/fetcher.ts';
import type { Route, RouteBook } from '../../routes/route-book.ts';
import { resetConnection } from '../../sockets/reset.ts';
import type { RunningDownload } from '../download/running-download.ts';
import type { QuestionsAhead } from './questions-ahead.ts';

export interface OpenLaneComponents {
  readonly plane: Pick<DataPlane, 'steadyMs'>;
  readonly fetcher: Fetcher;
  readonly lanes: Pick<LanesConfig, 'spread'>;
  /** Watches a connection to the origin, until it is stopped. */
  readonly watchLeg: (stream: Duplex, route: Route) => WatchedLeg;
}

/** Of the plan's rate: a chain that promises less would only be one more that is slow. */
const LEAST_SHARE_OF_PLAN = 0.5;

/** A connection for a lane over the best route for it; where that fails, over the next. */
export function openLane(
  lane: number,
  { book, lanes: others }: RunningDownload,
  { target, route: firstRoute }: FetchedAnswer,
  questions: QuestionsAhead,
  { fetcher, lanes, plane, watchLeg }: OpenLaneComponents,
): NewConnection {
  const { promise: taken, resolve: take } = Promise.withResolvers<Route>();
  let newest = firstRoute;
  const beganAtMs = plane.steadyMs();
  const connect: OpenStream = (firstBytes, signal) =>
    tryInTurn(inOrderFor(lane, book, lanes.spread), {
      attempt: async (route, own, onStands) => {
        const over = { ...fetcher.chainTarget(route, target), isFurther: true };
        const stream = await fetcher.openStream(over, target.url, firstBytes, own);
        onStands();
        return { stream, route };
      },
      patienceMs: fetcher.patienceMs,
      signal,
      isFinal: (failure, route) => {
        if (!isWayFailure(failure)) return true;
        fetcher.noteFailure(book, route, failure);
        return false;
      },
      onOvertaken: ({ chain }) => {
        if (!hasBroughtSince(chain, others, beganAtMs)) book.noteFailure(chain);
      },
      discard: ({ stream }) => resetConnection(stream),
    }).then(({ stream, route }) => {
      const leg = watchLeg(stream, route);
      stream.once('close', () => leg.stop());
      newest = route;
      take(route);
      return stream;
    });
  const connection = questions.open(connect, () => newest);
  const asksAlong = target.url.scheme === 'http';
  return { connection, asksAlong, route: connection.stands.then(() => taken) };
}

/**
 * The plan's chain for every lane; where lanes are spread, another one of the good chains for each. Then all
 * others, the best first.
 */
function inOrderFor(lane: number, book: RouteBook, isSpread: boolean): Route[] {
  const all = book.routes();
  const planned = all.reduce((most, { promise }) => Math.max(most, promise?.rateBps ?? 0), 0);
  const good = all.filter(
    ({ chain, promise }) =>
      book.failures(chain) === 0 && promise !== undefined && promise.rateBps >= planned * LEAST_SHARE_OF_PLAN,
  );
  const own = isSpread ? good[lane % Math.max(1, good.length)] : undefined;
  return own ? [own, ...all.filter((route) => route !== own)] : all;
}

/**
 * Whether lanes have brought bytes over this chain since then: where a new connection over it comes to
 * nothing meanwhile, its origin takes no more of them.
 */
export function hasBroughtSince(chain: Chain, lanes: readonly LaneView[], sinceMs: number): boolean {
  return lanes.some((lane) => lane.chain && isSameChain(lane.chain, chain) && lane.broughtAtMs > sinceMs);
}
