import { ERRORS, type ErrorCode, LonghaulError, originHref } from '@longhaul/shared';
import { carryHere, type OpenCarrier } from '../../lanes/lane-carrier.ts';
import type { LaneMemory } from '../../lanes/lane-memory.ts';
import type { LanePlaces } from '../../lanes/lane-places.ts';
import { type AskedBlock, type LanesEnd, type LanesWork, runLanes } from '../../lanes/lane-transfer.ts';
import type { LanesConfig } from '../../lanes/lanes-config.ts';
import type { BlockBook } from '../../origin/block-book.ts';
import { type AskedTimes, thinks } from '../../origin/conversation.ts';
import { AddressRefused } from '../../origin/joined-part.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { LaneEvent } from '../../plane/events.ts';
import type { FetchedAnswer, RequestFor } from '../../routes/fetcher.ts';
import { depotsBehind } from '../../routes/route-book.ts';
import type { RunningDownload } from '../download/running-download.ts';
import type { KeptWhole } from './kept-whole.ts';
import { hasBroughtSince, type OpenLaneComponents, openLane } from './open-lane.ts';
import { QuestionsAhead, type QuestionsComponents } from './questions-ahead.ts';

interface LanesComponents extends QuestionsComponents, OpenLaneComponents {
  readonly plane: DataPlane;
  readonly lanes: LanesConfig;
  readonly laneMemory: LaneMemory;
  readonly lanePlaces: LanePlaces;
  readonly blockBook: BlockBook;
  readonly requestFor: RequestFor;
  /** The answer with all of the file, where that came before the first block. */
  readonly whole: KeptWhole | undefined;
  /** Watches what all lanes bring over one way; gives what ends that. */
  readonly watchLanes: (work: LanesWork) => () => void;
}

/** It may think so many times longer before the next answer than it did before the first one. */
const THINKS_TIMES = 3;

/** What an origin answers to a block that it would not have answered to the whole. */
const OF_BLOCKS: ReadonlySet<ErrorCode> = new Set(['origin-changed', 'origin-bad-answer', 'origin-busy']);

/** Whether lanes have ended with what the origin would not have answered to the whole. */
export function isRefusedToBlocks({ failure }: LanesEnd): boolean {
  return failure !== undefined && OF_BLOCKS.has(failure.code);
}

/** Sends a download over several lanes; the first block has been asked for, and its answer begun. */
export async function sendOverLanes(
  download: RunningDownload,
  first: FetchedAnswer,
  firstBlock: AskedBlock & AskedTimes,
  components: LanesComponents,
): Promise<LanesEnd> {
  const { plane, lanes: config, requestFor, whole } = components;
  const { client, job, missing: part, representation, stop, target } = download;
  if (!part || !representation) throw new Error('lanes need a file of known version and size');
  const { chain, promise } = first.route;
  const leg = components.watchLeg(first.connection.stream, first.route);
  const isThinking = thinks(firstBlock);
  const { silenceMs, answerMs, thinksMs } = answerTimes(firstBlock, components);
  const unfit = unfitBlocks(download, components.blockBook);
  // A depot may have kept the answer back; it cannot have given another one over TLS.
  if (isThinking) unfit.leave(depotsBehind(first.route));
  const wanted = isThinking ? 1 : Math.min(target.ticket.claims.lanes, config.perOrigin);
  const questions = new QuestionsAhead(first, download, components, thinksMs);
  const places = components.lanePlaces.enter(target.client, wanted);
  const memory = components.laneMemory.join(target.client);
  try {
    const taken = await questions.takeFirst();
    // Where the origin is asked singly its answers are read by Node's own client, here.
    const byThread = taken && (await questions.carry(taken.source, part, memory.counters));
    if (places.count < wanted || isThinking)
      plane.observe({ type: 'lanes-fewer', lanes: places.count, jobId: job.id });
    const end = await runLanes({
      part,
      laneCount: places.count,
      mostLanes: () => mostLanesNow(download, components),
      promise,
      open: (lane) => openLane(lane, download, first, questions, components),
      mostQuestions: () => questions.mostQuestions,
      request: {
        asked: requestFor(first.target.url),
        representation,
        silenceMs,
        answerMs,
      },
      first: {
        connection: questions.goOn(taken),
        route: Promise.resolve({ chain, promise }),
        ...firstBlock,
      },
      carry: byThread?.carry ?? carryInProcess(download),
      config,
      memory,
      signal: stop,
      left: client.left,
      nowMs: plane.steadyMs,
      // Lanes that are spread go over several ways, and an origin that thinks would think again.
      watch: config.spread || isThinking ? undefined : components.watchLanes,
      onLanes: (lanes) => {
        download.lanes = lanes;
      },
      observe: onLaneEvent(download, plane),
      onBlock: () => whole?.noteBlock(),
      onBlockFailed: (failure, isProved) => whole?.noteFailure(failure, isProved) === true,
      onCounted: unfit.leaveAnswered,
    });
    // An address that a redirect led to may just have lapsed; the next redirect leads to another.
    const mayHaveLapsed =
      end.failure instanceof AddressRefused && originHref(first.target.url) !== originHref(target.url);
    if (isRefusedToBlocks(end) && !mayHaveLapsed) unfit.leaveAnswered();
    return end;
  } finally {
    places.leave();
    memory.leave();
    leg.stop();
  }
}

/** How long the origin may be silent within an answer, and before one, and how long it is expected to think. */
function answerTimes(
  { stoodAtMs, answeredAtMs }: AskedTimes,
  { plane, lanes }: Pick<LanesComponents, 'plane' | 'lanes'>,
) {
  const silenceMs = lanes.silenceSeconds * 1000;
  const thinksMs = THINKS_TIMES * (answeredAtMs - stoodAtMs);
  const answerMs = Math.max(silenceMs, Math.min(plane.timeouts.answerMs, thinksMs));
  return { silenceMs, answerMs, thinksMs };
}

/** Takes note that blocks are bad for the origin of a download. */
function unfitBlocks(download: RunningDownload, blockBook: BlockBook) {
  const { url, client } = download.target;
  /** `over`: depots that may have caused it. */
  const leave = (over: readonly string[]) => blockBook.noteUnfit(url, client, over);
  /** Of all that lanes go over; what came by TLS no depot can have said. */
  const leaveAnswered = () =>
    leave(
      url.scheme === 'https'
        ? []
        : download.lanes.flatMap((lane) => (lane.chain ? depotsBehind({ chain: lane.chain }) : [])),
    );
  return { leave, leaveAnswered };
}

/**
 * How many lanes may be at work now: other connections of the same download count among those that an origin
 * is bothered with, and the one that is kept with the whole, which is left before it takes the last place.
 */
function mostLanesNow(
  { job }: RunningDownload,
  { lanes, whole }: Pick<LanesComponents, 'lanes' | 'whole'>,
): number {
  const left = lanes.perOrigin - (job.active - 1);
  if (left < 2) whole?.leave();
  return left - Number(whole?.isThere === true);
}

/** Carries what lanes bring to the client through this process. */
function carryInProcess({ client, stop }: RunningDownload): OpenCarrier {
  return carryHere({
    write: (chunk) => client.write(chunk),
    drained: async () => {
      const state = await client.roomy(stop);
      if (state !== 'ready') throw new LonghaulError('internal', { detail: `the client is ${state}` });
    },
  });
}

/**
 * Takes what happens to the lanes of a download: a chain fails where a connection over it breaks, unless that
 * is the origin's doing.
 */
function onLaneEvent(download: RunningDownload, plane: DataPlane) {
  return (event: LaneEvent): void => {
    if (event.type === 'lane-broke' && ERRORS[event.code].blame !== 'origin') {
      const { chain, openedAtMs = 0, broughtAtMs = 0 } = download.lanes[event.lane] ?? {};
      const isNew = broughtAtMs < openedAtMs;
      if (chain && !(isNew && hasBroughtSince(chain, download.lanes, openedAtMs)))
        download.book.noteFailure(chain);
    }
    plane.observe({ ...event, jobId: download.job.id });
  };
}
