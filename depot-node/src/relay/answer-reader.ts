import type { Duplex } from 'node:stream';

/** Of what comes past this thread is told so long after, at most. */
export const TOLD_WITHIN_MS = 50;

/**
 * Longest head of an answer, whoever reads it: cookies and policies fill tens of kilobytes, and browsers take
 * 256 KiB.
 */
export const MOST_HEAD_BYTES = 65_536;

/** What is told of answers that come over a connection one after the other. */
export interface AnswerEvents {
  /** Bytes have come. */
  readonly onCame: () => void;
  /** Shown what has come of a head; gives how many of these bytes it takes, 0 while it is not whole. */
  readonly onHead: (bytes: Buffer) => number;
  /** All of the body has come. */
  readonly onWhole: () => void;
  /** The connection has ended, or broken. */
  readonly onEnd: () => void;
  /** Whether nothing is read just now, for a reason that is not the sender's. */
  readonly onStopped: (isStopped: boolean) => void;
}

/** A body that is to be read. */
export interface BodyOrder {
  /** More than none. */
  readonly sizeBytes: number;
  /** Place of the body in what a relay thread joins. */
  readonly startByte: number;
  /** Takes its bytes, where they come through this thread. */
  readonly onChunk: (chunk: Buffer) => void;
  /** Told of bytes that went past it; see `BodyTaker`. */
  readonly onMoved: (bytes: number, heldUpMs: number, isHeldUp: boolean) => void;
}

/** Reads answers from a connection, each when it is asked to; between two of them it reads nothing. */
export interface AnswerReader {
  /** Whether bytes have come that belong to nothing that was read whole. */
  readonly hasUnused: boolean;
  /** Reads to the end of the next head. */
  readonly readHead: () => void;
  readonly readBody: (body: BodyOrder) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Reads nothing more, and tells nothing more. */
  readonly leave: () => void;
}

/**
 * Has answers read from a connection, of which these bytes have been read already; `undefined` where that is
 * impossible, and then nothing has been taken of it. At first a head is read, where one comes next.
 */
export type ReadAnswers = (
  below: Duplex,
  first: Buffer,
  isAtHead: boolean,
  events: AnswerEvents,
) => Promise<AnswerReader | undefined>;
