import type { ChainPromise } from '@longhaul/shared';
import type { Part } from '../entry/representation.ts';

/** How one block came. Time in which its reader had paused it is taken out. */
export interface BlockTimes {
  /** From the request to the first byte of the body. */
  readonly firstByteMs: number;
  /** From the request to the last byte. */
  readonly wholeMs: number;
}

/** Takes a block's bytes in order, as they come. They are the taker's from then on. */
export type OnChunk = (chunk: Buffer) => void;

/** One connection that serves one block at a time. */
export interface BlockConnection {
  /**
   * Fetches the part. Resolves when it is whole; rejects with a `LonghaulError`: `origin-changed`, `origin-bad-answer`,
   * `origin-unreachable`, `origin-timeout`, `origin-busy` (an `OriginBusy`), or what kept the way from being made. The
   * connection is over then.
   */
  fetch(part: Part, onChunk: OnChunk): Promise<BlockTimes>;
  /** Whether it can serve no further block: broken, closed, or ended by the origin as `Connection: close` says. */
  readonly isOver: boolean;
  /** Stops reading, until `resume`; paused time counts neither as slowness nor as silence. */
  pause(): void;
  resume(): void;
  /** Resets the connection; a running fetch rejects. */
  close(): void;
}

export interface WayFacts {
  /** The depots it goes over, this one first. */
  readonly chain: readonly string[];
  /** What the plan promises of it. */
  readonly promise?: ChainPromise | undefined;
}

/** A lane's connection. It is there before its way is: the way's making begins with the first block asked for. */
export interface OpenedLane {
  readonly connection: BlockConnection;
  /** Settles when the way stands, or could not be made; what kept it from that rejects the first fetch, too. */
  readonly way: Promise<WayFacts>;
}

/** Gives ways for lanes. */
export interface LaneWays {
  /** A new connection for this lane, over a chain of the giver's choice: not one that failed lately. Does not throw. */
  open(lane: number): OpenedLane;
}

/** What a lane did, for logs, metrics and tests. */
export type LaneEvent =
  | { readonly type: 'lane-opened'; readonly lane: number; readonly chain: readonly string[] }
  | { readonly type: 'lane-broke'; readonly lane: number; readonly code: string }
  /** Tried again after the time given. */
  | {
      readonly type: 'lane-removed';
      readonly lane: number;
      readonly reason: 'degraded' | 'refused';
      readonly restMs: number;
    }
  /** The rest of a late block was asked for on a second lane. */
  | { readonly type: 'block-asked-again'; readonly lane: number; readonly part: Part }
  | { readonly type: 'block'; readonly lane: number; readonly sizeBytes: number; readonly times: BlockTimes };
