import type { Segment } from '../digests/segment-tags.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import type { DirectionComponents } from './direction.ts';
import type { End } from './end.ts';
import type { ThreadDigests } from './thread-digests.ts';
import type { FlowEnd } from './thread-message.ts';

export interface FlowComponents extends DirectionComponents {
  readonly kernel: Kernel;
  readonly digests: ThreadDigests;
}

/** What moves in a relay thread: a tunnel or a body. Its ends are its own. */
export interface Flow {
  readonly id: number;
  readonly ends: readonly End[];
  readonly wantsProgress: boolean;
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

/** `again`: another turn may go further; otherwise an event must come first. */
export type Turn = 'again' | 'wait' | { readonly end: FlowEnd };

/** Whether an error waits on an end of which an event said so. */
export function hasFailed(end: End): boolean {
  if (!end.failed) return false;
  end.failed = end.takeError() !== 0;
  return end.failed;
}
