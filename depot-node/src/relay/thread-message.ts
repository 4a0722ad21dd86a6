import type { Segment } from '../digests/segment-tags.ts';
import type { SharedCountsMemory } from '../tls/shared-counts.ts';
import type { ContextSpec } from '../tls/tls-context.ts';
import type { HostToVerify } from '../tls/tls-end.ts';
import type { HeldCounters } from './held-count.ts';
import type { BodyEnd, TunnelBreak } from './relay-plane.ts';
import type { DigestCommand } from './thread-digests.ts';

/** What the main thread asks of a relay thread. Descriptors named here belong to the thread from then on. */
export type ThreadCommand =
  | TunnelCommand
  | BodyCommand
  | MergeCommand
  | AnswersCommand
  | MergeOrder
  | DigestCommand
  | SecureCommand
  | ListenCommand
  | CertificateCommand
  | SessionCommand
  | ContextCommand
  | BeginCommand
  | AbandonCommand
  | { readonly type: 'cancel'; readonly id: number }
  | RestCommand
  | StopCommand;

/** The process rests: the thread may compact its heap, unless bytes move. */
interface RestCommand {
  readonly type: 'rest';
}

interface StopCommand {
  readonly type: 'stop';
}

/** A connection of a flow: a descriptor, or the inside of a TLS connection that the thread ends. */
export type EndSpec = number | { readonly session: number; readonly descriptor: number };

/** A TLS connection to be ended by the thread from now on. */
export interface SecureCommand {
  readonly type: 'secure';
  readonly id: number;
  readonly role: 'server' | 'client';
  readonly descriptor: number;
  /** The thread's end of the pair whose other end is Node's. It is closed by the main thread, after `finished`. */
  readonly plain: number;
  readonly context: number;
  /** Bytes that Node had already read. */
  readonly head: Uint8Array;
  readonly host?: HostToVerify;
  /** Of a connection that goes on. */
  readonly state?: SessionState;
}

/** Takes connections and ends their TLS, until it is cancelled. */
export interface ListenCommand {
  readonly type: 'listen';
  readonly id: number;
  /** Listens already. */
  readonly descriptor: number;
  readonly context: number;
  readonly limits: AcceptLimits;
  readonly counts: SharedCountsMemory;
  /** Threads that count there, and this one's place among them. */
  readonly threads: number;
  readonly holder: number;
}

/** What a thread may take without asking; the main thread judges what is over it. */
export interface AcceptLimits {
  readonly most: number;
  readonly perNetwork: number;
  readonly waitingPerNetwork: number;
  /** Those that end without a request, at once; as many again within `unusedBackMs`. */
  readonly unusedPerNetwork: number;
  readonly unusedBackMs: number;
}

/** New connections of a listener are answered with another certificate. */
export interface CertificateCommand {
  readonly type: 'use-certificate';
  readonly id: number;
  readonly context: number;
}

/** A TLS connection on its way from one thread to another, or from its first words to where it goes. */
export interface SessionState {
  readonly connection: number;
  /** Whether its handshake is still to be finished. */
  readonly isNew: boolean;
  readonly unread: Uint8Array;
  readonly unsent: Uint8Array;
  readonly isUpOpen: boolean;
  readonly isDownOpen: boolean;
  readonly hasEnded: boolean;
}

/** Asks for the first words of a client's TLS connection that has no descriptor yet. */
export interface BeginCommand {
  readonly type: 'begin';
  readonly id: number;
  readonly context: number;
  readonly host: HostToVerify;
}

/** Nobody goes on with a connection that has begun. */
export interface AbandonCommand {
  readonly type: 'abandon';
  readonly connection: number;
}

export interface SessionCommand {
  readonly type: 'end-down' | 'close-soon' | 'give-away';
  readonly id: number;
}

export type ContextCommand =
  | {
      readonly type: 'add-context';
      readonly context: number;
      readonly spec: ContextSpec;
      readonly ciphers: string;
    }
  | { readonly type: 'renew-tickets'; readonly context: number; readonly keys: Uint8Array }
  | { readonly type: 'drop-context'; readonly context: number };

export interface TunnelCommand {
  readonly type: 'tunnel';
  readonly id: number;
  readonly downstream: EndSpec;
  readonly upstream: EndSpec;
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
  readonly source: EndSpec;
  readonly sink: EndSpec;
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

/** A file that many connections bring parts of, and one gets in order. */
export interface MergeCommand {
  readonly type: 'merge';
  readonly id: number;
  readonly sink: EndSpec;
  readonly startByte: number;
  readonly endByte: number;
  /** Bytes at its end that are not delivered, but reported. */
  readonly backBytes: number;
  readonly stallMs: number;
  /** Where what it holds is counted and bounded. */
  readonly held?: HeldCounters | undefined;
  readonly digestId?: number | undefined;
  readonly tagKey?: Uint8Array | undefined;
}

/** A connection whose answers bring parts of a file. */
export interface AnswersCommand {
  readonly type: 'answers';
  readonly id: number;
  /** Where the bodies go; of the same thread. */
  readonly merge: number;
  readonly source: EndSpec;
  /** Bytes that Node had already read. */
  readonly head: Uint8Array;
  /** Whether a head comes first, or a body whose place will be told. */
  readonly isAtHead: boolean;
}

/** What a merge, or a connection of one, is to do next. */
export type MergeOrder =
  | { readonly type: 'answer-head'; readonly id: number }
  | {
      readonly type: 'answer-body';
      readonly id: number;
      readonly startByte: number;
      readonly sizeBytes: number;
    }
  | { readonly type: 'answer-rest'; readonly id: number; readonly isResting: boolean }
  | {
      readonly type: 'merge-put';
      readonly id: number;
      readonly startByte: number;
      readonly bytes: Uint8Array;
    };

/** What is told of merges and their connections, in order. */
export type MergeEvent =
  | { readonly is: 'head'; readonly id: number; readonly bytes: Uint8Array }
  /**
   * Bytes of a body since the last time, and how long the sink alone has kept it waiting; below 0, how long
   * it went on, where it was held up at the last time.
   */
  | {
      readonly is: 'moved';
      readonly id: number;
      readonly bytes: number;
      readonly heldUpMs: number;
      readonly isHeldUp: boolean;
    }
  | { readonly is: 'whole'; readonly id: number }
  | {
      readonly is: 'delivered';
      readonly id: number;
      readonly bytes: number;
      readonly heldBytes: number;
      readonly isBlocked: boolean;
    };

/** What a relay thread says. */
export type ThreadReport =
  | { readonly type: 'ready'; readonly tls: string | undefined }
  | { readonly type: 'secured'; readonly id: number; readonly isResumed: boolean }
  | AcceptedReport
  | RefusedReport
  | GivenAway
  | BegunReport
  /** What the flows have delivered so far. */
  | { readonly type: 'progress'; readonly flows: readonly FlowProgress[] }
  | { readonly type: 'merges'; readonly events: readonly MergeEvent[] }
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

/** A connection that a listener has taken, by the listener's id. Its descriptor belongs to whoever is told. */
export interface AcceptedReport {
  readonly type: 'accepted';
  readonly id: number;
  readonly descriptor: number;
  readonly network: string;
  /**
   * How its TLS stands, with the first bytes of its request; undefined where nothing was done, because it is
   * to be judged first.
   */
  readonly state: SessionState | undefined;
}

/**
 * Connections that a listener has closed at once, by network: more were over the bounds than the main thread
 * could judge.
 */
export interface RefusedReport {
  readonly type: 'refused';
  readonly id: number;
  readonly refused: readonly (readonly [network: string, times: number])[];
}

/** A TLS connection that has begun and is nobody's: whoever has its number goes on with it, or has it abandoned. */
export interface BegunReport {
  readonly type: 'begun';
  readonly id: number;
  /** Undefined where it could not begin. */
  readonly begun: { readonly connection: number; readonly firstFlight: Uint8Array } | undefined;
}

/** A TLS connection that is the thread's no longer; without a state it could not be given away and stays. */
export interface GivenAway {
  readonly type: 'given-away';
  readonly id: number;
  readonly state: SessionState | undefined;
}

/** The end of a flow. Its descriptors are no longer to be used. */
export interface FlowReport {
  readonly type: 'finished';
  readonly id: number;
  readonly end: FlowEnd;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Taken from the source of a body and not delivered; of a merge that is complete, the bytes at its end. */
  readonly rest: Uint8Array<ArrayBuffer> | undefined;
  /** Tags of all that was taken, where they were wanted. */
  readonly segments?: readonly Segment[] | undefined;
  /** Whether a connection of a merge had brought bytes that belong to nothing whole. */
  readonly hasUnused?: boolean;
  /** Why a handshake has failed. */
  readonly failure?: { readonly isBroken: boolean; readonly reason: string };
}

/** `complete` for both kinds; the others as in `TunnelOutcome.reason` or `BodyOutcome.outcome`. */
export type FlowEnd = BodyEnd | TunnelBreak | 'broke';

/** The end of a flow that has moved nothing, because it never began, or of which nobody can say what it moved. */
export function finishedWithNothing(
  id: number,
  end: FlowEnd,
  failure?: NonNullable<FlowReport['failure']>,
): FlowReport {
  const nothing = { bytesUp: 0, bytesDown: 0, rest: undefined };
  return { type: 'finished', id, end, ...nothing, ...(failure && { failure }) };
}
