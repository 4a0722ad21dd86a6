import type { ErrorCode } from '@longhaul/shared';
import type { MembershipState } from './directory/membership.ts';
import type { Failover } from './entry/transfer.ts';
import type { LaneEvent } from './lanes/lane-ways.ts';
import type { PlaneKind } from './relay/relay-plane.ts';
import type { SocketReport } from './sockets/leg-sockets.ts';

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
      /** Depots that carried it, entry depot first. */
      readonly chain: readonly string[];
      readonly outcome: 'complete' | 'upstream-broke' | 'client-left';
      /** Hexadecimal digest of a whole file that passed this process; the kernel's splices pass it by. */
      readonly sha256: string | undefined;
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
  /** What a lane of a transfer did. */
  | (Exclude<LaneEvent, { readonly type: 'block' }> & { readonly jobId: string })
  /** The relay has taken a tunnel or a body, by this way of moving bytes. */
  | { readonly type: 'flow'; readonly plane: PlaneKind }
  /** A tunnel to the next depot was opened, over a connection that waited for it or a new one. */
  | { readonly type: 'leg'; readonly start: 'spare' | 'dialled' }
  /** What the kernel refuses of the configured options, told once at start. */
  | ({ readonly type: 'sockets' } & SocketReport)
  | { readonly type: 'directory'; readonly depots: number }
  /** An exchange with the master failed. */
  | { readonly type: 'master-lost'; readonly code: ErrorCode; readonly detail: string | undefined }
  /** How this depot stands with its master has changed; a problem is its operator's to solve. */
  | ({ readonly type: 'membership' } & MembershipState);

export type Observe = (event: DepotEvent) => void;
