import type { ErrorCode } from '@longhaul/shared';

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
    }
  | {
      readonly type: 'tunnel';
      readonly jobId: string;
      readonly role: 'exit' | 'middle' | 'entry';
      readonly bytesUp: number;
      readonly bytesDown: number;
      readonly seconds: number;
      readonly outcome: 'complete' | 'broke';
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
  | { readonly type: 'directory'; readonly depots: number }
  | { readonly type: 'master-lost'; readonly code: ErrorCode; readonly detail: string | undefined };

export type Observe = (event: DepotEvent) => void;
