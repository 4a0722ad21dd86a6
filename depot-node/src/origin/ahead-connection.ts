import type { Duplex } from 'node:stream';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import { endConnection, resetConnection } from '../sockets/reset.ts';
import type { AskOptions, Conversation, OriginRequest } from './conversation.ts';
import { type BodyRead, MOST_INTERIM_ANSWERS, type ReadOptions, type TakenBody } from './exchange.ts';
import { GatheredChunks } from './gathered-chunks.ts';
import type { OpenStream } from './origin-connection.ts';
import { parseAnswerHead } from './parse-answer-head.ts';
import type { AnswerHead } from './representation.ts';
import { SilenceTimer } from './silence-timer.ts';
import { TinyChunks, tinyChunks } from './tiny-chunks.ts';

/** Questions open at once: a lane's blocks are this much smaller than what it has on the way, and the next one is always asked for. */
const MOST_QUESTIONS = 4;
/** An origin that has answered a question, but not yet one that was asked ahead, is given so long for that. */
const PROVING_MS = 2_000;

interface AheadInit {
  /** Whether the origin has answered questions that were asked ahead before. */
  readonly isFit: () => boolean;
  /** Told when the origin answers such a question, or shows that it cannot. */
  readonly note: (isFit: boolean) => void;
}

interface Question {
  /** Asked while another one was open. */
  readonly isAhead: boolean;
  readonly answerMs: number;
  readonly resolve: (head: AnswerHead) => void;
  readonly reject: (failure: LonghaulError) => void;
}

interface Reading {
  readonly onBytes: (bytes: Buffer) => void;
  readonly settle: (end: BodyRead) => void;
}

/**
 * What ended a connection: its stream, the origin's silence, an answer that is not what was asked for, or bytes of which
 * nobody can tell where the answer ends.
 */
type Break = 'broke' | 'silent' | 'wrong' | 'unreadable';

/**
 * A conversation with an origin in HTTP/1.1 in which the next requests are sent before the answer to the first one has come
 * (RFC 9112 section 9.3.2). It takes only answers whose end is known by their length. What an origin leaves unanswered because
 * it cannot be asked so is given back, and the origin noted.
 */
export class AheadConnection implements Conversation {
  static readonly MOST_QUESTIONS = MOST_QUESTIONS;
  readonly stands: Promise<void>;
  readonly mostQuestions = MOST_QUESTIONS;
  gaveBack = false;
  readonly #init: AheadInit;
  readonly #silence = new SilenceTimer();
  readonly #given = new AbortController();
  readonly #tiny = tinyChunks.sender();
  /** Questions without a head yet, in the order in which they were asked. */
  readonly #questions: Question[] = [];
  readonly #unsent: Buffer[] = [];
  readonly #standing = Promise.withResolvers<void>();
  #open: OpenStream | undefined;
  #below: Duplex | undefined;
  /** What has come and was not used. */
  #come: Buffer[] = [];
  /** The answer whose body is next, with what of it has not come. */
  #answer: { readonly statusCode: number; readonly isAhead: boolean; restBytes: number } | undefined;
  #reading: Reading | undefined;
  #interimAnswers = 0;
  #hasAnswered = false;
  /** Answers that came whole, and those among them that had been asked for ahead. */
  #answers = 0;
  #aheadAnswers = 0;
  /** The origin takes no further question. */
  #isLast = false;
  #isPaused = false;
  #resting: NodeJS.Timeout | undefined;
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
    connection.#answer = { statusCode: 206, isAhead: false, restBytes: restBytes + prefix.length };
    if (prefix.length > 0) connection.#come.push(prefix);
    connection.#attach(source);
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

  async read({ sizeBytes, silenceMs, onChunk }: ReadOptions): Promise<BodyRead> {
    const answer = this.#answer;
    if (!answer || this.#isOver) return 'source-broke';
    if (sizeBytes !== undefined && sizeBytes !== answer.restBytes) {
      this.#fail(new LonghaulError('origin-bad-answer'), 'wrong');
      return sizeBytes < answer.restBytes ? 'too-long' : 'source-ended';
    }
    const gathered = new GatheredChunks(onChunk, (tiny) => this.#rest(this.#tiny.note(tiny)));
    return new Promise((resolve) => {
      this.#reading = {
        onBytes: (bytes) => gathered.add(bytes),
        settle: (end) => {
          gathered.flush();
          resolve(end);
        },
      };
      this.#silence.start(silenceMs, () => this.#fail(new LonghaulError('origin-timeout'), 'silent'));
      this.#flow();
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow();
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

  #attach(below: Duplex): void {
    this.#below = below;
    below.on('data', this.#onData);
    below.on('end', this.#onEnd);
    below.on('error', this.#onBroken);
    below.on('close', this.#onBroken);
    this.#standing.resolve();
    if (below.destroyed) {
      this.#onBroken();
      return;
    }
    this.#send();
    if (!this.#answer) this.#awaitHead();
    this.#flow();
  }

  readonly #onData = (chunk: Buffer) => {
    this.#silence.touch();
    this.#come.push(chunk);
    if (!this.#reading && TinyChunks.isTiny(chunk)) this.#rest(this.#tiny.note(1));
    this.#use();
    // Nobody reads what was answered: no more than this is kept.
    if (this.#answer && !this.#reading) this.#below?.pause();
  };
  readonly #onEnd = () => this.#fail(new LonghaulError('origin-unreachable'), 'broke');
  readonly #onBroken = () => this.#fail(new LonghaulError('origin-unreachable'), 'broke');

  /** Uses what has come: for the body that is read, then for the next head. */
  #use(): void {
    while (!this.#isOver && !this.#isStopped && this.#come.length > 0) {
      if (this.#answer) {
        if (!this.#reading) return;
        this.#useForBody(this.#answer, this.#reading);
      } else if (!this.#useForHead()) return;
    }
  }

  #useForBody(answer: { restBytes: number }, { onBytes }: Reading): void {
    const [chunk] = this.#come;
    if (!chunk) return;
    const bytes = chunk.subarray(0, answer.restBytes);
    if (bytes.length === chunk.length) this.#come.shift();
    else this.#come[0] = chunk.subarray(bytes.length);
    answer.restBytes -= bytes.length;
    onBytes(bytes);
    if (answer.restBytes === 0 && !this.#isOver) this.#noteWhole();
  }

  #noteWhole(): void {
    const isAhead = this.#answer?.isAhead === true;
    const reading = this.#reading;
    this.#answer = undefined;
    this.#reading = undefined;
    this.#silence.stop();
    this.#answers += 1;
    if (isAhead) {
      this.#aheadAnswers += 1;
      this.#init.note(true);
    }
    reading?.settle('complete');
    if (this.#isLast && this.#questions.length > 0)
      this.#fail(new LonghaulError('origin-unreachable'), 'broke');
    else this.#awaitHead();
  }

  /** Whether a head was there. */
  #useForHead(): boolean {
    const bytes = Buffer.concat(this.#come);
    const [question] = this.#questions;
    const parsed = question ? parseAnswerHead(bytes) : 'malformed';
    if (parsed === 'incomplete') {
      this.#come = [bytes];
      return false;
    }
    if (parsed === 'malformed') {
      this.#fail(new LonghaulError('origin-bad-answer'), 'unreadable');
      return false;
    }
    const { head, sizeBytes, bodyBytes, isLast } = parsed;
    this.#come = sizeBytes < bytes.length ? [bytes.subarray(sizeBytes)] : [];
    if (head.statusCode < 200) {
      this.#interimAnswers += 1;
      const isTooMuch = head.statusCode === 101 || this.#interimAnswers > MOST_INTERIM_ANSWERS;
      if (isTooMuch) this.#fail(new LonghaulError('origin-bad-answer'), 'broke');
      return !isTooMuch;
    }
    // Without a length nobody could tell where the next answer begins.
    if (bodyBytes === undefined && head.statusCode === 206) {
      this.#fail(new LonghaulError('origin-bad-answer'), 'unreadable');
      return false;
    }
    this.#interimAnswers = 0;
    this.#hasAnswered = true;
    this.#silence.stop();
    this.#questions.shift();
    this.#isLast = isLast || bodyBytes === undefined;
    this.#answer = {
      statusCode: head.statusCode,
      isAhead: question?.isAhead === true,
      restBytes: bodyBytes ?? 0,
    };
    question?.resolve(head);
    return true;
  }

  /** Begins to count the time that the origin takes for the next head. */
  #awaitHead(): void {
    const [question] = this.#questions;
    if (!question || !this.#below || this.#answer) return;
    const isUnproved = question.isAhead && this.#aheadAnswers === 0;
    const answerMs = isUnproved ? Math.min(question.answerMs, PROVING_MS) : question.answerMs;
    this.#silence.start(answerMs, () => this.#fail(new LonghaulError('origin-timeout'), 'silent'));
  }

  get #isStopped(): boolean {
    return this.#isPaused || this.#resting !== undefined;
  }

  #rest(restMs: number): void {
    if (restMs === 0 || this.#isOver) return;
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#flow();
    }, restMs);
    this.#flow();
  }

  #flow(): void {
    if (this.#isStopped) {
      this.#silence.pause();
      this.#below?.pause();
      return;
    }
    this.#silence.resume();
    // Whoever has read the answer before is told of its end first.
    if (this.#come.length > 0 || this.#answer?.restBytes === 0) setImmediate(() => this.#goOn());
    else this.#below?.resume();
  }

  #goOn(): void {
    if (this.#isOver || this.#isStopped) return;
    if (this.#reading && this.#answer?.restBytes === 0) this.#noteWhole();
    this.#use();
    if (!this.#isStopped && !(this.#answer && !this.#reading)) this.#below?.resume();
  }

  #fail(failure: LonghaulError, how: Break): void {
    if (this.#isOver) return;
    const isBetween = !this.#answer && this.#come.length === 0 && this.#answers > 0;
    const isUnfit = how === 'unreadable' || this.#showsUnfit(how);
    this.gaveBack = isUnfit || (isBetween && how === 'broke');
    if (isUnfit) this.#init.note(false);
    this.#end(failure, how === 'silent' ? 'source-silent' : 'source-broke');
  }

  /** Whether what happened is not what an origin does that can be asked ahead. */
  #showsUnfit(how: Break): boolean {
    const isAhead = this.#answer?.isAhead === true || this.#questions.some((question) => question.isAhead);
    if (!isAhead) return false;
    if (how === 'wrong') return true;
    if (this.#aheadAnswers > 0) return false;
    // Within a body silence is the way's, and a break is, too, where the answer was one to a question that was asked ahead.
    if (this.#answer && (how === 'silent' || this.#answer.isAhead)) return false;
    return this.#answers > 0 || !this.#init.isFit();
  }

  #end(failure: LonghaulError, end: BodyRead = 'source-broke'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#resting);
    this.#silence.stop();
    this.#given.abort(failure);
    this.#standing.reject(failure);
    const below = this.#leave();
    if (below) resetConnection(below);
    this.#come = [];
    this.#reading?.settle(end);
    for (const { reject } of this.#questions.splice(0)) reject(failure);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#resting);
    this.#silence.stop();
    const below = this.#leave();
    if (below) endConnection(below);
  }

  #leave(): Duplex | undefined {
    const below = this.#below;
    this.#below = undefined;
    below
      ?.off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onBroken)
      .off('close', this.#onBroken);
    // What breaks from now on concerns nobody.
    below?.on('error', () => {});
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
