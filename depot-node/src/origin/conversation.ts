import type { LonghaulError } from '@longhaul/shared';
import type { BodyRead, ReadOptions } from './exchange.ts';
import type { AnswerHead } from './representation.ts';

export interface OriginRequest {
  readonly method: 'GET' | 'HEAD';
  /** Raw path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AskOptions {
  /** How long the origin may take to answer, from the moment on at which it has been reached and is to answer this. */
  readonly answerMs: number;
  /** Gives the question up. */
  readonly signal?: AbortSignal;
}

/** When a connection began to be made, and when something was asked for over it, at the earliest together with that. */
export interface AskedTimes {
  readonly openedAtMs: number;
  readonly askedAtMs: number;
  /** When the connection stood, and was asked; then the origin's time for its answer began, beside that of the way. */
  readonly stoodAtMs: number;
  readonly answeredAtMs: number;
}

/** The times alone. */
export function timesOf({ openedAtMs, askedAtMs, stoodAtMs, answeredAtMs }: AskedTimes): AskedTimes {
  return { openedAtMs, askedAtMs, stoodAtMs, answeredAtMs };
}

/**
 * How long an answer was waited for, once its way stood and the question was on it: a round trip of that way
 * at most, and the origin's own time.
 */
export function waitedMs({
  stoodAtMs,
  answeredAtMs,
}: Pick<AskedTimes, 'stoodAtMs' | 'answeredAtMs'>): number {
  return Math.max(0, answeredAtMs - stoodAtMs);
}

/** A way takes no longer to ask and to answer than twice what it took to be made. */
const WAY_TIMES = 2;

/** How long an origin took for an answer beyond what its way may have. */
export function thoughtMs({ openedAtMs, stoodAtMs, answeredAtMs }: AskedTimes): number {
  return Math.max(0, answeredAtMs - stoodAtMs - WAY_TIMES * (stoodAtMs - openedAtMs));
}

/** An origin that thinks for longer before it answers would do so before each block. */
const THINKS_MS = 250;

/** Whether an origin thinks for so long before it answers that blocks would cost more than they bring. */
export function thinks(asked: AskedTimes): boolean {
  return thoughtMs(asked) > THINKS_MS;
}

/**
 * A connection to an origin over which parts of a file are asked for. Answers come in the order of the
 * questions; the head of one comes when the body of the one before has been read.
 */
export interface Conversation {
  /** Resolves when the stream stands; rejects with what kept it from being made. */
  readonly stands: Promise<void>;
  /** Whether it can be asked now. */
  readonly isOpen: boolean;
  /** Questions that may be open at once, the one that is being answered among them. */
  readonly mostQuestions: number;
  /** After a failure: whether questions were left unanswered for which neither the way nor the lane is to blame. */
  readonly gaveBack: boolean;
  /**
   * Sends a request and gives the answer's head, the body unread. Rejects with a `LonghaulError`; the
   * connection is over then.
   */
  ask(asked: OriginRequest, options: AskOptions): Promise<AnswerHead>;
  /** Reads the body of the answer. Never rejects; whatever is not `complete` has ended the connection. */
  read(options: ReadOptions): Promise<BodyRead>;
  /** Stops reading, until `resume`; paused time does not count as silence. */
  pause(): void;
  resume(): void;
  /** Ends the connection: cleanly when all that was asked for has been read, else by a reset. */
  close(): void;
  /** Breaks the connection off; `refused` says what was wrong with the answer, where that is why. */
  reset(refused?: LonghaulError): void;
}
