import type { Duplex } from 'node:stream';
import type { DigestAlgorithm, FlowDigest } from '../digests/flow-digest.ts';
import type { Segment } from '../digests/segment-tags.ts';
import type { ReadAnswers } from './answer-reader.ts';
import type { HeldCounters } from './held-count.ts';

/** Moves bytes between two connections. The one place of the data plane that joins sockets. */
export interface Relay {
  /**
   * Joins two ends until both directions have ended. A half-close travels as a half-close; whatever breaks
   * one end resets the other, so that a cut stream never looks like the end of one. So is an upstream that
   * has ended, when the client falls silent without an end of its own; the client gets all that came before,
   * and its end. Both ends belong to the relay from the call on. Never rejects.
   */
  readonly tunnel: (downstream: Duplex, upstream: Duplex, options: TunnelOptions) => Promise<TunnelOutcome>;
  /**
   * Moves exactly `sizeBytes` from source to sink and takes no byte more. Neither closes nor resets an end: what is
   * not broken afterwards is the caller's again, alive, with the source paused. Only the source is read; nobody else
   * may read it or write to the sink meanwhile. Never rejects.
   */
  readonly body: (source: Duplex, sink: Duplex, options: BodyOptions) => Promise<BodyOutcome>;
}

/** The relay of a depot, which chooses for each flow how its bytes are moved. */
export interface ChoosingRelay extends Relay {
  /** Whether a body between these two would be moved by the kernel, unseen by this process. */
  readonly splices: (source: Duplex, sink: Duplex, sizeBytes: number) => boolean;
  /** Begins a digest that relay threads make; `undefined` where there are none. */
  readonly openDigest: (algorithm: DigestAlgorithm) => FlowDigest | undefined;
  /**
   * Has a relay thread join parts of a file, which come over many connections, into one stream in order;
   * `undefined` where none can. Until it is over nobody else may write to the sink, which is then the
   * caller's again, unless it broke.
   */
  readonly merge: (sink: Duplex, options: MergeOptions) => Promise<BodyMerge | undefined>;
}

export interface MergeOptions {
  readonly startByte: number;
  readonly endByte: number;
  /** Bytes at its end that are not delivered, but given to `onLast`. */
  readonly backBytes: number;
  /** How long the sink may leave bytes unread. */
  readonly stallMs: number;
  /** Where the thread counts what it holds, also what was `put`. While that is too much it reads only what is next. */
  readonly held?: HeldCounters | undefined;
  /** Gives it up before it begins. */
  readonly signal: AbortSignal;
  readonly watcher?: Pick<BodyWatcher, 'digest' | 'tagKey' | 'onTags'> | undefined;
  /** It has delivered or holds other bytes than before. */
  readonly onChange: () => void;
  readonly onLast: (bytes: Buffer) => void;
  /** Told once. `sink-broke`: also where the sink left its bytes unread for too long. */
  readonly onOver: (end: 'complete' | 'sink-broke' | 'cancelled') => void;
}

/** A file that many connections bring parts of, and one gets. */
export interface BodyMerge {
  /**
   * The first byte that the sink's kernel has not; the last bytes count when they have been given to
   * `onLast`. Lags by milliseconds.
   */
  readonly headByte: number;
  /** Bytes in memory. Lags likewise. */
  readonly heldBytes: number;
  /** Whether the thread counts these as `held` says. */
  readonly isCounted: boolean;
  /** Whether the sink takes nothing just now. */
  readonly isBlocked: boolean;
  /** Adds bytes that this thread has read; they are copied. */
  readonly put: (startByte: number, bytes: Buffer) => void;
  /** Has the thread read the answers of a connection. */
  readonly readAnswers: ReadAnswers;
  /** Ends it; resolves when `headByte` is final. */
  readonly close: () => Promise<void>;
}

/** One way to move the bytes. */
export interface RelayPlane extends Relay {
  readonly kind: PlaneKind;
}

/** `splice`: in the kernel, by threads of their own; `streams`: through Node, on every system and over TLS. */
export type PlaneKind = 'splice' | 'streams';

export interface TunnelOptions {
  /** Silence of both ends after which they are given up. */
  readonly silenceMs: number;
  /**
   * The same once one direction has ended: nobody is there any more to break the silence from that side. Not
   * while bytes wait for the downstream end, which may have stopped reading.
   */
  readonly halfClosedSilenceMs: number;
  /** Resets both ends. */
  readonly signal: AbortSignal;
  /** Called with the growth of what came from the upstream end, several times a second at least while it grows. */
  readonly onDown?: (bytes: number) => void;
  /** The same of what came from the downstream end. */
  readonly onUp?: (bytes: number) => void;
}

export interface TunnelOutcome {
  /**
   * `complete`: both directions ended cleanly, or the one from upstream did and silence followed; `broke`: an
   * end was reset, went silent or was cancelled.
   */
  readonly outcome: 'complete' | 'broke';
  /** Why it broke. */
  readonly reason?: TunnelBreak;
  /** Bytes handed to the upstream end's kernel, and to the downstream end's. */
  readonly bytesUp: number;
  readonly bytesDown: number;
}

export type TunnelBreak = 'downstream-broke' | 'upstream-broke' | 'silent' | 'cancelled' | 'relay-failed';

export interface BodyOptions {
  readonly sizeBytes: number;
  /** Stops the body and gives both ends back. */
  readonly signal: AbortSignal;
  /** Silence of the source, while bytes were wanted, after which it is given up. */
  readonly silenceMs: number;
  /** How long the sink may leave bytes unread. */
  readonly stallMs: number;
  /** Called with the growth of what the sink has taken, several times a second at least while it grows. */
  readonly onBytes?: (bytes: number) => void;
  /** Who wants to see the bytes. */
  readonly watcher?: BodyWatcher | undefined;
}

/** What becomes of the bytes of a body beside being moved, wherever that is done. */
export interface BodyWatcher {
  /** Takes them in where a relay thread moves them. */
  readonly digest: FlowDigest | undefined;
  /** Key of the tags that are wanted of them. */
  readonly tagKey: Uint8Array | undefined;
  /** Gets those tags of bytes that a thread moved, at their end. */
  readonly onTags: (segments: readonly Segment[]) => void;
  /** Shown the bytes where this thread moves them itself. */
  readonly onChunk: (chunk: Buffer) => void;
}

export interface BodyOutcome {
  readonly outcome: BodyEnd;
  /**
   * Bytes taken from the source. Unless the sink broke, the sink has exactly these: its kernel has them all, or, after
   * `cancelled` and `sink-stalled` only, some still lie in its write queue, before whatever the caller writes next.
   */
  readonly bytes: number;
}

export type BodyEnd =
  | 'complete'
  /** The source ended cleanly before `sizeBytes`. */
  | 'source-ended'
  | 'source-broke'
  | 'source-silent'
  | 'sink-broke'
  | 'sink-stalled'
  | 'cancelled';
