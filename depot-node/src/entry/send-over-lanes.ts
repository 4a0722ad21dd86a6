import type { Duplex } from 'node:stream';
import { LonghaulError } from '@longhaul/shared';
import { type LanesEnd, runLanes } from '../lanes/lane-transfer.ts';
import type { LaneEvent } from '../lanes/lane-ways.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { WatchedLeg } from '../sockets/leg-sampler.ts';
import { answeredBlock } from './answered-block.ts';
import type { ClientBody } from './client-body.ts';
import type { FirstBlockOf } from './open-download.ts';
import type { FetchedAnswer, OriginFetchComponents, RequestFor } from './origin-fetch.ts';
import type { Choice, RouteBook } from './route-book.ts';
import { waysForLanes } from './ways-for-lanes.ts';

interface LanesOptions extends FirstBlockOf {
  readonly fetch: OriginFetchComponents;
  /** As the plan says. */
  readonly laneCount: number;
  /** Other connections of the same download: they count among those that an origin is bothered with. */
  readonly otherConnections: () => number;
  readonly config: LanesConfig;
  readonly book: RouteBook;
  readonly client: ClientBody;
  readonly requestFor: RequestFor;
  readonly watchLeg: (way: Duplex, choice: Choice) => WatchedLeg;
  readonly onLaneEvent: (event: Exclude<LaneEvent, { readonly type: 'block' }>) => void;
  readonly shutdown: AbortSignal;
  readonly nowMs: () => number;
}

/** Failures of the origin, over whatever way it is asked. */
const ORIGIN_FAILURES: ReadonlySet<string> = new Set(['origin-busy', 'origin-changed', 'origin-bad-answer']);

/** Sends what follows an answered first block to the client over several lanes. */
export async function sendOverLanes(first: FetchedAnswer, options: LanesOptions): Promise<LanesEnd> {
  const { block, askedAtMs, all, laneCount, config, book, client, nowMs } = options;
  const silenceMs = config.silenceSeconds * 1000;
  const leg = options.watchLeg(first.answer.socket, first.choice);
  // Its body is read here, not by the relay.
  await first.takeBody(() => false);
  const chains = new Map<number, readonly string[]>();
  const end = await runLanes({
    part: all,
    laneCount,
    mostLanes: () => config.perOrigin - options.otherConnections(),
    ways: waysForLanes({
      ...options,
      target: first.target,
      isSpread: config.spread,
      silenceMs,
    }),
    first: answeredBlock(first, { part: block, askedAtMs, silenceMs, nowMs }),
    sink: {
      write: (chunk) => client.write(chunk),
      drained: async () => {
        const state = await client.roomy(options.shutdown);
        if (state !== 'ready') throw new LonghaulError('internal', { detail: `the client is ${state}` });
      },
    },
    config,
    signal: options.shutdown,
    left: client.left,
    nowMs,
    observe: (event) => {
      if (event.type === 'block') return;
      if (event.type === 'lane-opened') chains.set(event.lane, event.chain);
      if (event.type === 'lane-broke' && !ORIGIN_FAILURES.has(event.code)) {
        const chain = chains.get(event.lane);
        if (chain) book.noteFailure(chain);
      }
      options.onLaneEvent(event);
    },
  });
  leg.stop();
  return end;
}
