import type { Chain, ErrorCode, LeftChain } from '@longhaul/shared';
import type { RefusedConnection } from '@longhaul/shared/service';
import type { MembershipState } from '../directory/membership.ts';
import type { LegSummary } from '../estimates/leg-summaries.ts';
import type { PlaneKind } from '../relay/relay-plane.ts';
import type { SocketReport } from '../sockets/leg-sockets.ts';

/** Why a way was given up in the middle of a body. */
export type BreakReason =
  | 'ended'
  | 'reset'
  | 'silent'
  | 'slow'
  /** The origin refused blocks: that is no fault of the way. */
  | 'refused'
  /** A body that was fetched again begins with other bytes than the client has. */
  | 'other-bytes';

/** One repair of a transfer. */
export interface Failover {
  readonly reason: BreakReason;
  readonly from: Chain;
  /** The chain that carries the rest; `undefined` when none was found. */
  readonly to: Chain | undefined;
  /** Bytes that the client had. */
  readonly atByte: number;
  /** Whether it brings all these bytes again. */
  readonly isAgain: boolean;
  readonly seconds: number;
}

/**
 * Why a lane was taken out of service: it only held the others up, was refused, was left without an answer,
 * or brought another version than they.
 */
export type LaneRemoval = 'degraded' | 'refused' | 'unanswered' | 'other-version';

/** What a lane of a transfer did. */
export type LaneEvent =
  | { readonly type: 'lane-opened'; readonly lane: number; readonly chain: Chain }
  | { readonly type: 'lane-broke'; readonly lane: number; readonly code: ErrorCode }
  /** Tried again after the time given. */
  | {
      readonly type: 'lane-removed';
      readonly lane: number;
      readonly reason: LaneRemoval;
      readonly restMs: number;
    }
  /** All transfers together hold as much as they may: only what the client gets next is fetched for now. */
  | { readonly type: 'lanes-tight' }
  /** A download got fewer lanes than its plan has, because others have theirs. */
  | { readonly type: 'lanes-fewer'; readonly lanes: number }
  /** The origin cannot be asked for several blocks at once, and is asked for one after the other for a while. */
  | { readonly type: 'lanes-asked-singly' }
  /** The rest of a late block, from a byte to another, was asked for on a second lane. */
  | {
      readonly type: 'block-asked-again';
      readonly lane: number;
      readonly startByte: number;
      readonly endByte: number;
    };

/** What became of a transfer that waited; `expired`: nobody came for it. */
export type HandoverOutcome = 'complete' | 'upstream-broke' | 'successor-left' | 'refused' | 'expired';

/** What happens in a depot, for logs and metrics. No event holds a ticket, a path or a query. */
export type DepotEvent =
  | {
      readonly type: 'transfer';
      readonly jobId: string;
      readonly originHost: string;
      readonly status: number;
      readonly bodyBytes: number;
      readonly seconds: number;
      /** How long the origin's answer was waited for, once it was asked; left out where somebody else has asked. */
      readonly waitedMs: number | undefined;
      /** Of all that went to its client meanwhile, its share: less than 1 where others ran beside it. */
      readonly ownShare: number;
      /** Depots that carried it, entry depot first. */
      readonly chain: readonly string[];
      readonly outcome: 'complete' | 'upstream-broke' | 'client-left';
      readonly left: LeftChain | undefined;
      /** Hexadecimal digest of a whole file that passed this process; the kernel's splices pass it by. */
      readonly sha256: string | undefined;
      /** What the kernel told of its connections, the client's and those towards the origin. */
      readonly legs: readonly LegSummary[];
    }
  /** A way broke in the middle of a body; the rest goes on over another one, or there was none. */
  | ({ readonly type: 'failover'; readonly jobId: string } & Failover)
  | {
      readonly type: 'tunnel';
      readonly jobId: string;
      readonly role: 'exit' | 'middle' | 'entry';
      readonly bytesUp: number;
      readonly bytesDown: number;
      readonly seconds: number;
      readonly outcome: 'complete' | 'broke';
      /** What the kernel told of its connections, towards the client and towards the origin. */
      readonly legs: readonly LegSummary[];
    }
  /** A transfer that waited for the successor (stepwise signalling) has ended. */
  | {
      readonly type: 'handover';
      readonly jobId: string;
      readonly role: 'exit' | 'middle';
      readonly outcome: HandoverOutcome;
      readonly bodyBytes: number;
      readonly seconds: number;
    }
  /** A connection was closed before it could bring a request. */
  | ({ readonly type: 'connection-refused' } & RefusedConnection)
  /** The system gives fewer descriptors than the configured limits need. */
  | { readonly type: 'descriptors-short'; readonly transfers: number; readonly connections: number }
  /** No further descriptor could be had: connections were not taken, not made, or closed at once. */
  | { readonly type: 'descriptors-out'; readonly code: 'descriptors-out' }
  | {
      readonly type: 'refusal';
      readonly code: ErrorCode;
      readonly jobId: string | undefined;
      readonly depot: string;
      readonly detail: string | undefined;
    }
  | {
      readonly type: 'chain-failed';
      readonly jobId: string;
      readonly code: ErrorCode;
      readonly depot: string;
    }
  | (LaneEvent & { readonly jobId: string })
  /** The relay has taken a tunnel or a body, by this way of moving bytes. */
  | { readonly type: 'flow'; readonly plane: PlaneKind }
  /** A tunnel to the next depot was opened, over a connection that waited for it or a new one. */
  | { readonly type: 'leg'; readonly start: 'spare' | 'dialled' }
  /** What became of a way that was made before its client was there. */
  | { readonly type: 'prepared-way'; readonly end: 'used' | 'unused' | 'failed' }
  /** So many bytes went over a link to test it. */
  | {
      readonly type: 'link-tested';
      readonly depot: string;
      readonly role: 'sender' | 'receiver';
      readonly bytes: number;
    }
  /** An origin was probed that no depot knew. */
  | { readonly type: 'origin-probed'; readonly isReached: boolean }
  /** What the kernel refuses of the configured options, told once at start. */
  | ({ readonly type: 'sockets' } & SocketReport)
  | { readonly type: 'directory'; readonly depots: number }
  /** An exchange with the master failed. */
  | { readonly type: 'master-lost'; readonly code: ErrorCode; readonly detail: string | undefined }
  /** How this depot stands with its master has changed; a problem is its operator's to solve. */
  | ({ readonly type: 'membership' } & MembershipState);

/** Said where no further descriptor could be had. */
export const DESCRIPTORS_OUT = {
  type: 'descriptors-out',
  code: 'descriptors-out',
} as const satisfies DepotEvent;

export type Observe = (event: DepotEvent) => void;
