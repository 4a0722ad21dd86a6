import { LonghaulError } from '@longhaul/shared';
import type { Part } from '../entry/representation.ts';
import type { LaneEvent, LaneWays, OpenedLane, OnChunk, BlockTimes } from './lane-ways.ts';
import type { LanesConfig } from './lanes-config.ts';

/** The client's end. */
export interface LaneSink {
  /** Takes bytes, in order; `false` asks to wait for `drained` before the next. */
  write(chunk: Buffer): boolean;
  /** Resolves when more can be written; rejects when the client has left, or left its bytes unread for too long. */
  drained(): Promise<void>;
}

/** A lane that runs already: the answer to its first block has been read up to its body. */
export interface FirstBlock {
  readonly lane: OpenedLane;
  readonly part: Part;
  /** Reads the block's body, as `BlockConnection.fetch` does. */
  readonly read: (onChunk: OnChunk) => Promise<BlockTimes>;
}

export interface LanesInit {
  /** What is to be delivered. */
  readonly part: Part;
  /** Lanes at start; never more than `config.perOrigin`. */
  readonly laneCount: number;
  readonly ways: LaneWays;
  /** Lane 0, where the entry has asked for the first block itself. It starts where `part` starts and ends inside it. */
  readonly first?: FirstBlock | undefined;
  readonly sink: LaneSink;
  readonly config: LanesConfig;
  /** Ends the transfer as `cancelled`. */
  readonly signal: AbortSignal;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  readonly nowMs: () => number;
  readonly observe: (event: LaneEvent) => void;
}

export interface LanesEnd {
  readonly outcome: 'complete' | 'upstream-broke' | 'client-left' | 'cancelled';
  /** Delivered, in order, from `part.startByte` on. */
  readonly bytes: number;
  /** Why upstream broke. */
  readonly failure?: LonghaulError | undefined;
}
