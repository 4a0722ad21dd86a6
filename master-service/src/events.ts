import type { ErrorCode } from '@longhaul/shared';

export type Decision = 'chain' | 'direct';

/** What a master tells about itself. Hosts and job ids are named; tickets and full URLs never are. */
export type MasterEvent =
  | { readonly type: 'planned'; readonly decision: Decision; readonly jobId: string; readonly host: string }
  | {
      readonly type: 'redirected';
      readonly decision: Decision;
      readonly jobId: string;
      readonly host: string;
    }
  | { readonly type: 'refused'; readonly code: ErrorCode }
  | { readonly type: 'depot-registered'; readonly depot: string }
  | { readonly type: 'depot-heard'; readonly depot: string }
  | { readonly type: 'failed'; readonly error: unknown };

export type EmitEvent = (event: MasterEvent) => void;
