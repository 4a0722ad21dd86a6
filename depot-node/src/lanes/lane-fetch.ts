import type { Block } from './block-queue.ts';
import type { Stopwatch } from './stopwatch.ts';

/** One lane's work on one block. */
export interface LaneFetch {
  readonly block: Block;
  readonly fromByte: number;
  /** The next byte that comes. */
  atByte: number;
  /** Runs from when the lane had nothing else to fetch. */
  readonly watch: Stopwatch;
  /** The first one over its connection, which had to be made for it. */
  isOpening: boolean;
  /** Asked for while another block was fetched: its first byte waited for that. */
  readonly isAhead: boolean;
  /** When it was asked for, as `watch` counts: over TLS a connection has to stand before that. */
  askedMs: number;
  firstByteMs: number | undefined;
  /** When its latest bytes came, as `watch` counts. */
  lastByteMs: number;
  /** It rested before its first byte, which then comes sooner or later than the origin sent it. */
  hasRested: boolean;
  /** Another lane has brought it. */
  isLost: boolean;
  /** It waits for the client alone. */
  isHeldUp: boolean;
  /** How much later than they come its bytes are told of, at most. */
  toldWithinMs: number;
}
