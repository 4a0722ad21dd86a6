import type { ErrorCode, FeedbackAnswer, FeedbackRequest, JobDownload } from '@longhaul/shared';
import type { RefusedConnection } from '@longhaul/shared/service';

export type Decision = 'chain' | 'direct';

/** The operator's files that say who is where. */
export type PrefixFile = 'coverage' | 'asTable';

/**
 * What came of telling a depot: it was not reached, refused, or nobody vouches for its certificate
 * (`unheard`), or it is of a version that knows no such thing.
 */
export type TellingOutcome = 'heard' | 'unheard' | 'unknown';

/** What a master tells about itself. Hosts and job ids are named; tickets and full URLs never are. */
export type MasterEvent =
  | { readonly type: 'planned'; readonly decision: Decision; readonly jobId: string; readonly host: string }
  | {
      readonly type: 'redirected';
      readonly decision: Decision;
      readonly jobId: string;
      readonly host: string;
    }
  /** The entry depot of a planned job has told that a download of it has ended. */
  | {
      readonly type: 'job-ended';
      readonly jobId: string;
      readonly host: string;
      readonly outcome: JobDownload['outcome'];
      /** |ln(measured / predicted)| of its seconds; left out where it cannot be compared. */
      readonly error?: number;
      /** By which share of direct's time it took longer than direct, as far as that is known. */
      readonly regret?: number;
    }
  /** A download was given another chain than the best one that is known, to learn. */
  | { readonly type: 'explored'; readonly jobId: string; readonly host: string }
  /** Most neighbours of a depot have got much less than it says that it has sent; or it agrees with them again. */
  | { readonly type: 'depot-trust'; readonly depot: string; readonly isTrusted: boolean }
  /** Measurements of such a depot were not taken. */
  | { readonly type: 'measurements-ignored'; readonly depot: string }
  /** A depot has proved that it is in another network than before: what was measured there is forgotten. */
  | { readonly type: 'depot-moved'; readonly depot: string }
  /** A client has told how a download went, and what came of that. */
  | {
      readonly type: 'feedback';
      readonly jobId: string;
      readonly host: string;
      readonly verdict: FeedbackRequest['verdict'];
      readonly effect: FeedbackAnswer['effect'];
    }
  | { readonly type: 'refused'; readonly code: ErrorCode }
  /** A download was led to its origin because there was no time for a plan. */
  | { readonly type: 'plan-spared'; readonly host: string }
  | { readonly type: 'depot-registered'; readonly depot: string }
  /**
   * Who may be a depot has changed: a token was made or taken back, a depot has joined or has another key, a
   * key was revoked.
   */
  | {
      readonly type: 'enrolment';
      readonly what: 'token-created' | 'token-revoked' | 'joined' | 'key-renewed' | 'revoked';
      readonly depot?: string;
      readonly token?: string;
    }
  | { readonly type: 'depot-heard'; readonly depot: string }
  /** A depot, or somebody who would be one, was refused. */
  | {
      readonly type: 'depot-refused';
      readonly code: ErrorCode;
      /** Who it says it is; left out where it says nothing that could be an id. */
      readonly depot?: string;
      readonly address: string;
    }
  /** Another process of a depot that is up has sent a heartbeat, not for the first time. */
  | { readonly type: 'depot-twice'; readonly depot: string }
  /** A depot has answered at its address. */
  | { readonly type: 'depot-proved'; readonly depot: string; readonly isRenewed: boolean }
  /** A depot that was asked did not prove its address; what it proved before counts on for a while. */
  | {
      readonly type: 'depot-not-proved';
      readonly depot: string;
      readonly code: ErrorCode;
      readonly detail: string | undefined;
    }
  /** This master could not ask a depot, for want of something of its own: nothing is known of the depot by that. */
  | {
      readonly type: 'depot-not-asked';
      readonly depot: string;
      readonly code: ErrorCode;
      readonly detail: string | undefined;
    }
  /** A depot was not there when it was asked; it counts as lost until it is heard again. */
  | { readonly type: 'depot-down'; readonly depot: string }
  /** A depot cannot connect to another one, which answers the master. */
  | { readonly type: 'depot-unreached'; readonly depot: string; readonly other: string }
  /** A depot cannot connect to an origin, and no chain to it ends there for a while. */
  | { readonly type: 'origin-unreached'; readonly depot: string; readonly host: string }
  /** No further descriptor could be had: connections were closed at once, or not made. */
  | { readonly type: 'descriptors-out'; readonly code: 'descriptors-out' }
  /** A connection was closed before it could bring a request. */
  | ({ readonly type: 'connection-refused' } & RefusedConnection)
  /** A depot was told to probe an origin, or a client network may have no more of them probed. */
  | { readonly type: 'origin-probe'; readonly outcome: 'told' | 'network-used-up' }
  /** An entry depot was told which client is about to come. */
  | { readonly type: 'client-told'; readonly outcome: TellingOutcome }
  /** Facts that another master told, or a file had, were refused. */
  | {
      readonly type: 'facts-refused';
      readonly code: ErrorCode;
      /** The other master, or `file`. */
      readonly from: string;
      readonly facts: number;
    }
  /** Another key of this master has been published, has come into use, or is of no use any more; `keyId` signs. */
  | { readonly type: 'keys-published'; readonly keyId: string; readonly keys: number }
  /** A key of this master is due to be replaced, and has to wait. */
  | { readonly type: 'keys-waiting'; readonly code: 'key-renewal-waits' }
  /** A NATS server can be reached, for the first time or again. */
  | { readonly type: 'bus-connected'; readonly server: string }
  /** Something is wrong with the bus: what is known stays, and is planned with. */
  | { readonly type: 'bus-failed'; readonly code: ErrorCode; readonly detail: string | undefined }
  /** What earlier processes of this master had learned is known again. */
  | { readonly type: 'facts-restored'; readonly facts: number }
  /** Hardly anything of what they had learned holds by the clock of now; it is kept for when that is set right. */
  | { readonly type: 'facts-set-aside'; readonly facts: number }
  /** This machine's clock was set by so much; the time before goes on until depots say otherwise. */
  | { readonly type: 'clock-doubted'; readonly byMs: number }
  /** The time was set; what was learned is as old as before. */
  | { readonly type: 'clock-set'; readonly byMs: number }
  /** A file of prefixes was read; `skipped` are lines in it that say nothing. */
  | {
      readonly type: 'prefixes-loaded';
      readonly file: PrefixFile;
      readonly prefixes: number;
      readonly skipped: number;
    }
  /** A file of prefixes has mistakes: what was last read without any stays. */
  | {
      readonly type: 'prefixes-refused';
      readonly file: PrefixFile;
      readonly code: ErrorCode;
      readonly detail: string | undefined;
    }
  | { readonly type: 'failed'; readonly error: unknown };

export type EmitEvent = (event: MasterEvent) => void;
