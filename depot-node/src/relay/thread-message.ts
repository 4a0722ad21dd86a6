import type { Segment } from '../digests/segment-tags.ts';
import type { BodyEnd, TunnelBreak } from './relay-plane.ts';
import type { DigestCommand } from './thread-digests.ts';

/** What the main thread asks of a relay thread. Descriptors named here belong to the thread from then on. */
export type ThreadCommand =
  | TunnelCommand
  | BodyCommand
  | DigestCommand
  | { readonly type: 'cancel'; readonly id: number }
  | StopCommand;

interface StopCommand {
  readonly type: 'stop';
}

export interface TunnelCommand {
  readonly type: 'tunnel';
  readonly id: number;
  readonly downstream: number;
  readonly upstream: number;
  /** Bytes that Node had already read from the downstream end, and from the upstream end. */
  readonly headUp: Uint8Array;
  readonly headDown: Uint8Array;
  readonly silenceMs: number;
  readonly halfClosedSilenceMs: number;
  /** Whether anybody wants to know how it goes before the end. */
  readonly wantsProgress: boolean;
}

export interface BodyCommand {
  readonly type: 'body';
  readonly id: number;
  readonly source: number;
  readonly sink: number;
  /** Bytes that Node had already read from the source; they count. */
  readonly head: Uint8Array;
  readonly sizeBytes: number;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly wantsProgress: boolean;
  /** Of this thread: it takes in what the body brings. */
  readonly digestId?: number | undefined;
  /** Key of the tags that are to be reported of it. */
  readonly tagKey?: Uint8Array | undefined;
}

/** What a relay thread says. */
export type ThreadReport =
  | { readonly type: 'ready' }
  /** What the flows have delivered so far. */
  | { readonly type: 'progress'; readonly flows: readonly FlowProgress[] }
  | FlowReport
  | DigestReport;

/** A digest that was to be finished; `undefined` where there is none of this id. */
interface DigestReport {
  readonly type: 'digest';
  readonly id: number;
  readonly digest: Uint8Array | undefined;
}

/** Bytes that a flow has delivered so far. */
export type FlowProgress = readonly [id: number, bytesDown: number, bytesUp: number];

/** The end of a flow. Its descriptors are no longer to be used. */
export interface FlowReport {
  readonly type: 'finished';
  readonly id: number;
  readonly end: FlowEnd;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Taken from the source of a body and not delivered. */
  readonly rest: Uint8Array<ArrayBuffer> | undefined;
  /** Tags of all that was taken, where they were wanted. */
  readonly segments?: readonly Segment[] | undefined;
}

/** `complete` for both kinds; the others as in `TunnelOutcome.reason` or `BodyOutcome.outcome`. */
export type FlowEnd = BodyEnd | TunnelBreak;
