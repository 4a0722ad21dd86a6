import type { Duplex } from 'node:stream';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import type { AnswerEvents, AnswerReader, BodyOrder, ReadAnswers } from '../relay/answer-reader.ts';
import { endConnection, resetConnection } from '../sockets/reset.ts';
import { SilenceTimer } from '../sockets/silence-timer.ts';
import type { AskOptions, Conversation, OriginRequest } from './conversation.ts';
import { type BodyRead, MOST_INTERIM_ANSWERS, type ReadOptions, type TakenBody } from './exchange.ts';
import type { OpenStream } from './origin-connection.ts';
import { parseAnswerHead } from './parse-answer-head.ts';
import type { AnswerHead } from './representation.ts';
import { StreamAnswers } from './stream-answers.ts';

/**
 * Questions open at once: a lane's blocks are this much smaller than what it has on the way, and the next one
 * is always asked for.
 */
const MOST_QUESTIONS = 4;
/**
 * An origin that has answered a question, but not yet one that was asked ahead, is given so long for that, or
 * as long as it may think.
 */
const PROVING_MS = 2_000;

const NOTHING = Buffer.alloc(0);

interface AheadInit {
  /** Whether the origin has answered questions that were asked ahead before. */
  readonly isFit: () => boolean;
  /** Told when the origin answers such a question. */
  readonly noteFit: () => void;
  /** Told when it shows that it cannot: by what it answers, or by its connection, with which others may have to do. */
  readonly noteUnfit: (by: 'answer' | 'connection') => void;
  /**
   * Told when a connection breaks within an answer while further questions wait: by its way, or by an origin
   * that does not bear them.
   */
  readonly noteBreak: () => void;
  /** How long it may think before an answer; left out, no longer than others. */
  readonly thinksMs?: number;
  /** Has answers read elsewhere, where that is possible; without it this thread reads all of them. */
  readonly readAnswers?: ReadAnswers | undefined;
}

interface Question {
  /** Asked while another one was open. */
  readonly isAhead: boolean;
  readonly answerMs: number;
  readonly resolve: (head: AnswerHead) => void;
  readonly reject: (failure: LonghaulError) => void;
}

interface Reading {
  readonly order: BodyOrder;
  readonly settle: (end: BodyRead) => void;
}

/**
 * What ended a connection: its stream, the origin's silence, an answer that is not what was asked for, or
 * bytes of which nobody can tell where the answer ends.
 */
type Break = 'broke' | 'silent' | 'wrong' | 'unreadable';

/**
 * A conversation with an origin in HTTP/1.1 in which the next requests are sent before the answer to the
 * first one has come (RFC 9112 section 9.3.2). It takes only answers whose end is known by their length. What
 * an origin leaves unanswered because it cannot be asked so is given back, and the origin noted.
 */
export class AheadConnection implements Conversation {
  static readonly MOST_QUESTIONS = MOST_QUESTIONS;
  readonly stands: Promise<void>;
  readonly mostQuestions = MOST_QUESTIONS;
  gaveBack = false;
  readonly #init: AheadInit;
  readonly #silence = new SilenceTimer();
  readonly #given = new AbortController();
  /** Questions without a head yet, in the order in which they were asked. */
  readonly #questions: Question[] = [];
  readonly #unsent: Buffer[] = [];
  readonly #standing = Promise.withResolvers<void>();
  #open: OpenStream | undefined;
  #below: Duplex | undefined;
  #reader: AnswerReader | undefined;
  /** The answer whose body is next. */
  #answer: { readonly statusCode: number; readonly isAhead: boolean; readonly bodyBytes: number } | undefined;
  #reading: Reading | undefined;
  #interimAnswers = 0;
  #hasAnswered = false;
  /** Answers that came whole, and those among them that had been asked for ahead. */
  #answers = 0;
  #aheadAnswers = 0;
  /** The origin takes no further question. */
  #isLast = false;
  #isPaused = false;
  /** Nothing is read just now for a reason that is not the origin's. */
  #isStopped = false;
  #isOver = false;

  /** Opens its stream with the first question. */
  constructor(open: OpenStream, init: AheadInit) {
    this.#open = open;
    this.#init = init;
    this.stands = this.#standing.promise;
    this.stands.catch(() => {});
  }

  /** Goes on over a stream on which the body of an answer is under way. */
  static goingOn({ prefix, source, restBytes }: TakenBody, init: AheadInit): AheadConnection {
    const connection = new AheadConnection(() => Promise.resolve(source), init);
    connection.#open = undefined;
    connection.#hasAnswered = true;
    connection.#answer = { statusCode: 206, isAhead: false, bodyBytes: restBytes + prefix.length };
    connection.#attach(source, prefix);
    return connection;
  }

  get isOpen(): boolean {
    const below = this.#below;
    const isStanding = !below || (!below.destroyed && !below.readableEnded && below.writable);
    // An origin that refuses, or has to be asked singly, shows it in its first answer.
    const isKnown = this.#hasAnswered || this.#questions.length === 0;
    return !this.#isOver && !this.#isLast && isStanding && isKnown;
  }

  async ask(asked: OriginRequest, { answerMs }: AskOptions): Promise<AnswerHead> {
    if (!this.isOpen) throw new LonghaulError('origin-unreachable');
    const { promise, resolve, reject } = Promise.withResolvers<AnswerHead>();
    const isAhead = this.#answer !== undefined || this.#questions.length > 0;
    this.#questions.push({ isAhead, answerMs, resolve, reject });
    this.#unsent.push(formatRequest(asked));
    // What is asked in one turn goes out in one packet.
    if (this.#unsent.length === 1) queueMicrotask(() => this.#send());
    if (!isAhead) this.#awaitHead();
    return promise;
  }

  async read({ sizeBytes, silenceMs, startByte = 0, onChunk, onMoved }: ReadOptions): Promise<BodyRead> {
    const answer = this.#answer;
    if (!answer || this.#isOver) return 'source-broke';
    if (sizeBytes !== undefined && sizeBytes !== answer.bodyBytes) {
      this.#fail(new LonghaulError('origin-bad-answer'), 'wrong');
      return sizeBytes < answer.bodyBytes ? 'too-long' : 'source-ended';
    }
    return new Promise((settle) => {
      const order = { sizeBytes: answer.bodyBytes, startByte, onChunk, onMoved: onMoved ?? (() => {}) };
      this.#reading = { order, settle };
      this.#silence.start(silenceMs, () => this.#fail(new LonghaulError('origin-timeout'), 'silent'));
      if (order.sizeBytes > 0) this.#reader?.readBody(order);
      // Whoever has read the answer before is told of its end first.
      else setImmediate(() => this.#noteWhole());
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#countSilence();
    this.#reader?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#countSilence();
    this.#reader?.resume();
  }

  close(): void {
    const isDone = !this.#answer && this.#questions.length === 0;
    if (!isDone || !this.#below || this.#isOver) this.reset();
    else this.#finish();
  }

  reset(refused?: LonghaulError): void {
    const { statusCode = 0, isAhead = false } = this.#answer ?? {};
    // A part that was not asked for, or the whole file from where a part came before.
    const isWrong =
      statusCode === 206 ? refused?.code === 'origin-bad-answer' : statusCode === 200 && isAhead;
    if (refused && isWrong) this.#fail(refused, 'wrong');
    else this.#end(refused ?? new LonghaulError('origin-unreachable'));
  }

  #send(): void {
    if (this.#isOver || this.#unsent.length === 0) return;
    const open = this.#open;
    if (!open && !this.#below) return;
    const bytes = Buffer.concat(this.#unsent.splice(0));
    this.#open = undefined;
    if (!open) {
      this.#below?.write(bytes);
      return;
    }
    open(bytes, this.#given.signal).then(
      (below) => {
        if (this.#isOver) resetConnection(below);
        else this.#attach(below);
      },
      (failure) => this.#end(asLonghaulError(failure, 'origin-unreachable')),
    );
  }

  #attach(below: Duplex, first: Buffer = NOTHING): void {
    this.#below = below;
    below.on('error', this.#onBroken);
    below.on('close', this.#onBroken);
    this.#standing.resolve();
    if (below.destroyed) {
      this.#onBroken();
      return;
    }
    this.#send();
    if (!this.#answer) this.#awaitHead();
    void this.#beginReading(below, first);
  }

  async #beginReading(below: Duplex, first: Buffer): Promise<void> {
    const isAtHead = this.#answer === undefined;
    const { readAnswers } = this.#init;
    const reader =
      (readAnswers && (await readAnswers(below, first, isAtHead, this.#events))) ??
      (this.#isOver ? undefined : new StreamAnswers(below, first, isAtHead, this.#events));
    if (this.#isOver) {
      reader?.leave();
      return;
    }
    this.#reader = reader;
    if (this.#isPaused) reader?.pause();
    const { order } = this.#reading ?? {};
    if (order && order.sizeBytes > 0) reader?.readBody(order);
  }

  readonly #events: AnswerEvents = {
    onCame: () => this.#silence.touch(),
    onHead: (bytes) => this.#useForHead(bytes),
    onWhole: () => this.#noteWhole(),
    onEnd: () => this.#onBroken(),
    onStopped: (isStopped) => {
      this.#isStopped = isStopped;
      this.#countSilence();
    },
  };
  readonly #onBroken = () => this.#fail(new LonghaulError('origin-unreachable'), 'broke');

  #noteWhole(): void {
    if (this.#isOver || !this.#answer) return;
    const isAhead = this.#answer?.isAhead;
    const reading = this.#reading;
    this.#answer = undefined;
    this.#reading = undefined;
    this.#silence.stop();
    this.#answers += 1;
    if (isAhead) {
      this.#aheadAnswers += 1;
      this.#init.noteFit();
    }
    reading?.settle('complete');
    if (this.#isLast && this.#questions.length > 0)
      this.#fail(new LonghaulError('origin-unreachable'), 'broke');
    else this.#awaitHead();
    this.#reader?.readHead();
  }

  /** Uses what has come for the next head; gives how much of it that was, 0 where it is not whole or wrong. */
  #useForHead(bytes: Buffer): number {
    const [question] = this.#questions;
    if (!question) {
      // Who speaks unasked says that he ends the connection, as by a 408 where it rests for long (RFC 9110,
      // section 15.5.9).
      this.#fail(new LonghaulError('origin-unreachable'), 'broke');
      return 0;
    }
    const parsed = parseAnswerHead(bytes);
    if (parsed === 'incomplete') return 0;
    if (parsed === 'malformed') {
      this.#fail(new LonghaulError('origin-bad-answer'), 'unreadable');
      return 0;
    }
    const { head, sizeBytes, bodyBytes, isLast } = parsed;
    if (head.statusCode < 200) {
      this.#interimAnswers += 1;
      const isTooMuch = head.statusCode === 101 || this.#interimAnswers > MOST_INTERIM_ANSWERS;
      if (isTooMuch) this.#fail(new LonghaulError('origin-bad-answer'), 'broke');
      this.#reader?.readHead();
      return sizeBytes;
    }
    // Without a length nobody could tell where the next answer begins.
    if (bodyBytes === undefined && head.statusCode === 206) {
      this.#fail(new LonghaulError('origin-bad-answer'), 'unreadable');
      return 0;
    }
    this.#interimAnswers = 0;
    this.#hasAnswered = true;
    this.#silence.stop();
    this.#questions.shift();
    this.#isLast = isLast || bodyBytes === undefined;
    this.#answer = {
      statusCode: head.statusCode,
      isAhead: question.isAhead,
      bodyBytes: bodyBytes ?? 0,
    };
    question.resolve(head);
    return sizeBytes;
  }

  /** Begins to count the time that the origin takes for the next head. */
  #awaitHead(): void {
    const [question] = this.#questions;
    if (!question || !this.#below || this.#answer) return;
    const isUnproved = question.isAhead && this.#aheadAnswers === 0;
    const answerMs = isUnproved
      ? Math.min(question.answerMs, Math.max(PROVING_MS, this.#init.thinksMs ?? 0))
      : question.answerMs;
    this.#silence.start(answerMs, () => this.#fail(new LonghaulError('origin-timeout'), 'silent'));
  }

  #countSilence(): void {
    if (this.#isPaused || this.#isStopped) this.#silence.pause();
    else this.#silence.resume();
  }

  #fail(failure: LonghaulError, how: Break): void {
    if (this.#isOver) return;
    const isBetween = !this.#answer && this.#reader?.hasUnused !== true && this.#answers > 0;
    const isUnfit = how === 'unreadable' || this.#showsUnfit(how);
    this.gaveBack = isUnfit || (isBetween && how === 'broke');
    if (isUnfit) this.#init.noteUnfit(how === 'wrong' || how === 'unreadable' ? 'answer' : 'connection');
    else if (how === 'broke' && this.#answer && this.#questions.length > 0) this.#init.noteBreak();
    this.#end(failure, how === 'silent' ? 'source-silent' : 'source-broke');
  }

  /** Whether what happened is not what an origin does that can be asked ahead. */
  #showsUnfit(how: Break): boolean {
    const isAhead = this.#answer?.isAhead === true || this.#questions.some((question) => question.isAhead);
    if (!isAhead) return false;
    if (how === 'wrong') return true;
    if (this.#aheadAnswers > 0) return false;
    // Within a body silence is the way's, and a break is, too, where the answer was one to a question that
    // was asked ahead.
    if (this.#answer && (how === 'silent' || this.#answer.isAhead)) return false;
    return this.#answers > 0 || !this.#init.isFit();
  }

  #end(failure: LonghaulError, end: BodyRead = 'source-broke'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#silence.stop();
    this.#given.abort(failure);
    this.#standing.reject(failure);
    const below = this.#leave();
    if (below) resetConnection(below);
    this.#reading?.settle(end);
    for (const { reject } of this.#questions.splice(0)) reject(failure);
  }

  #finish(): void {
    this.#isOver = true;
    this.#silence.stop();
    const below = this.#leave();
    if (below) endConnection(below);
  }

  #leave(): Duplex | undefined {
    const below = this.#below;
    this.#below = undefined;
    below?.off('error', this.#onBroken).off('close', this.#onBroken);
    // What breaks from now on concerns nobody.
    below?.on('error', () => {});
    this.#reader?.leave();
    return below;
  }
}

function formatRequest({ method, target, headers }: OriginRequest): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // The client's header values and the URL have passed parsers that let no line end through.
  if (lines.some((line) => /[^\t\x20-\xff]/.test(line))) throw new Error('a request with a line end in it');
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
