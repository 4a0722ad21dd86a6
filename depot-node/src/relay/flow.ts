import type { Segment } from '../digests/segment-tags.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import type { DirectionComponents } from './direction.ts';
import type { End } from './end.ts';
import type { ThreadDigests } from './thread-digests.ts';
import type { EndSpec, FlowEnd, FlowReport } from './thread-message.ts';

export interface FlowComponents extends DirectionComponents {
  readonly kernel: Kernel;
  readonly digests: ThreadDigests;
}

/** How a flow comes by its ends. */
export interface EndComponents extends FlowComponents {
  readonly makeEnd: (spec: EndSpec, use: EndUse) => End;
}

/** What a flow does with an end: one direction of it for a while, or both of them until it is over. */
export type EndUse = 'source' | 'sink' | 'both';

/** What moves in a relay thread: a tunnel or a body. Its ends are its own. */
export interface Flow {
  readonly id: number;
  readonly ends: readonly End[];
  readonly wantsProgress: boolean;
  /** Whether it takes connections: its descriptor is watched as a listener's. */
  readonly isListener?: boolean;
  /** Whether the main thread does not know of it, and hears of no end. */
  readonly isUnknown?: boolean;
  /** Whether its turns take long because they make signatures: those run between the others for a short time only. */
  readonly isHandshaking?: boolean;
  /** Why it never began. */
  readonly failure?: FlowReport['failure'];
  /** Whether it had taken bytes that belong to nothing whole. */
  readonly hasUnused?: boolean;
  /** Whether it waits for its next turn. */
  queued: boolean;
  /** Bytes of both directions at the last report of progress. */
  reportedBytes: number;
  /** One move in and one out for each direction. */
  readonly turn: (nowMs: number) => Turn;
  /** The end that time brings, if it has come. */
  readonly expired: (nowMs: number) => FlowEnd | undefined;
  readonly bytesUp: () => number;
  readonly bytesDown: () => number;
  /** Gives up what is held; the ends may then be closed. Returns what a body took and did not deliver. */
  readonly finish: (end: FlowEnd) => Uint8Array<ArrayBuffer> | undefined;
  /** Tags of what it took, where they are wanted. */
  readonly segments?: (() => readonly Segment[]) | undefined;
}

/** `again`: another turn may go further; `gather`: one in a millisecond or two; otherwise an event must come first. */
export type Turn = 'again' | 'gather' | 'wait' | { readonly end: FlowEnd };

/** Whether an error waits on an end of which an event said so. */
export function hasFailed(end: End): boolean {
  if (!end.failed) return false;
  end.failed = end.takeError() !== 0;
  return end.failed;
}
