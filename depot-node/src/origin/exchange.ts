import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import type { BodyEnd } from '../relay/relay-plane.ts';
import type { PendingStream } from '../sockets/pending-stream.ts';
import { SilenceTimer } from '../sockets/silence-timer.ts';
import { GatheredChunks } from './gathered-chunks.ts';
import { type AnswerHead, endsWithConnection, isLength } from './representation.ts';
import { StillAtWork } from './still-at-work.ts';
import { tinyChunks } from './tiny-chunks.ts';

/** How the reading of a body ended. `too-long`: more came than was to come. */
export type BodyRead =
  | Extract<BodyEnd, 'complete' | 'source-ended' | 'source-broke' | 'source-silent'>
  | 'too-long';

/** Who takes the bytes of a body, or is told of those that go past this thread. */
export interface BodyTaker {
  /** Takes the bytes as they come; they are the taker's from then on. */
  readonly onChunk: (chunk: Buffer) => void;
  /**
   * So many bytes have gone to their place where a relay thread reads the body. For so long the client alone
   * has kept them from going on, and may do so from now on; then what is told next is, below 0, how long they
   * went on since.
   */
  readonly onMoved?: ((bytes: number, heldUpMs: number, isHeldUp: boolean) => void) | undefined;
}

export interface ReadOptions extends BodyTaker {
  /**
   * Length of the body where it is known, whatever frames it: chunks can be more or less than `Content-Range`
   * says, and a body that ends with its connection less.
   */
  readonly sizeBytes?: number | undefined;
  /** Silence, while bytes are wanted, after which the body has broken off. */
  readonly silenceMs: number;
  /** Place of the body in what a relay thread joins, where one reads it. */
  readonly startByte?: number | undefined;
}

export interface PatientReadOptions extends ReadOptions {
  /** Told of such a silence, in place of its being the end: whoever reads may wait on, or close. */
  readonly onSilent?: () => void;
}

/** A body of known length that has been taken from HTTP. */
export interface TakenBody {
  /** What had been read already. */
  readonly prefix: Buffer;
  /** Where the rest comes from, paused. */
  readonly source: Duplex;
  readonly restBytes: number;
}

/** Interim answers (RFC 9110 section 15.2) that an origin may send before its answer: each costs as much as that. */
export const MOST_INTERIM_ANSWERS = 20;

/** Tiny chunks in one turn of the event loop from which on an answer costs more than its bytes do. */
const MANY_TINY = 100;

interface ExchangeInit {
  readonly outgoing: ClientRequest;
  readonly hasBody: boolean;
  readonly stream: PendingStream;
  /** Told once when the exchange cannot go on, to end the connection. */
  readonly onFailed: () => void;
}

/** One request with its answer: first the head, then the body, read here or taken away. */
export class Exchange {
  /** Rejects with a `LonghaulError`: what kept the stream from being made, or `origin-*`. */
  readonly head: Promise<AnswerHead>;
  readonly #init: ExchangeInit;
  readonly #silence = new SilenceTimer();
  readonly #rejectHead: (failure: LonghaulError) => void;
  #message: IncomingMessage | undefined;
  /** Ends the reading of the body; set while it is read. */
  #endRead: ((end: BodyRead) => void) | undefined;
  #onSilent: () => void = () => this.#endRead?.('source-silent');
  #isPaused = false;
  /** Ends the rest that it takes because its chunks are tiny. */
  #resting: NodeJS.Timeout | undefined;
  #isOver = false;
  #isRead = false;
  /** Whether the connection ended, or went on with what is no answer, behind a whole one. */
  #isSpent = false;

  constructor(init: ExchangeInit) {
    this.#init = init;
    const { promise, resolve, reject } = Promise.withResolvers<AnswerHead>();
    this.head = promise;
    this.#rejectHead = reject;
    const { outgoing } = init;
    // An origin has no business to switch protocols on a plain GET.
    outgoing.once('upgrade', () => this.fail(new LonghaulError('origin-bad-answer')));
    let interimAnswers = 0;
    outgoing.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > MOST_INTERIM_ANSWERS) this.fail(new StillAtWork());
    });
    outgoing.on('error', (cause) => {
      // What comes behind a whole answer is none of it; nothing more is asked over such a connection.
      if (this.#message?.complete) this.#isSpent = true;
      else this.fail(failureOf(cause));
    });
    outgoing.once('response', (message) => {
      this.#silence.stop();
      if (!isUsable(message)) {
        this.fail(new LonghaulError('origin-bad-answer'));
        return;
      }
      this.#message = message;
      // What breaks while nobody reads shows in `destroyed`.
      message.on('error', () => this.#endRead?.('source-broke'));
      // At once: HTTP must not read further into a body that the relay may take.
      if (this.#takableBytes() !== undefined || this.#isChunked) init.stream.hold();
      const { statusCode = 0, headers, rawHeaders } = message;
      resolve({ statusCode, headers, rawHeaders });
    });
  }

  /** Whether the answer has been read to its end. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Whether the origin keeps the connection open after this answer. */
  get isKept(): boolean {
    return this.#message !== undefined && !this.#isSpent && this.#init.outgoing.shouldKeepAlive;
  }

  /** Whether another request may follow over the same connection. */
  get mayFollow(): boolean {
    return this.#isRead && this.isKept;
  }

  /** Begins to count the time that the origin takes to answer. */
  awaitAnswer(answerMs: number): void {
    if (this.#message || this.#isOver) return;
    this.#silence.start(answerMs, () => this.fail(new LonghaulError('origin-timeout')));
  }

  /** Reads the body. Never rejects; whatever is not `complete` has ended the connection. */
  read({ sizeBytes, silenceMs, onChunk, onSilent }: PatientReadOptions): Promise<BodyRead> {
    const message = this.#message;
    if (!message || this.#endRead) throw new Error('there is no body to read');
    let comeBytes = 0;
    const sender = tinyChunks.sender();
    const gathered = new GatheredChunks(onChunk, (tiny) => {
      if (tiny >= MANY_TINY) this.#init.stream.cutSmall();
      this.#rest(sender.note(tiny));
    });
    return new Promise((resolve) => {
      const onData = (chunk: Buffer) => {
        comeBytes += chunk.length;
        if (sizeBytes !== undefined && comeBytes > sizeBytes) {
          settle('too-long');
          return;
        }
        this.#silence.touch();
        gathered.add(chunk);
        this.#letMoreCome();
      };
      // Node ends a message cut before its declared end with an error, so an end here is the body's own, or
      // that of its connection.
      const { statusCode = 0, headers } = message;
      const isEndUnsure = !this.#init.stream.tellsCuts && endsWithConnection({ statusCode, headers }, 'GET');
      const onEnd = () => {
        if (isEndUnsure) settle('source-broke');
        else settle(comeBytes < (sizeBytes ?? 0) ? 'source-ended' : 'complete');
      };
      const onClose = () => settle('source-broke');
      const settle = (end: BodyRead) => {
        if (this.#isOver) return;
        this.#isOver = true;
        gathered.flush();
        clearTimeout(this.#resting);
        this.#resting = undefined;
        this.#silence.stop();
        message.off('data', onData).off('end', onEnd).off('close', onClose);
        this.#isRead = end === 'complete';
        // Held while it rested, or was paused: the next answer comes over the same stream.
        if (this.#isRead) this.#init.stream.release();
        else this.#init.onFailed();
        resolve(end);
      };
      this.#endRead = settle;
      if (onSilent) this.#onSilent = onSilent;
      message.on('data', onData).once('end', onEnd).once('close', onClose);
      this.#silence.start(silenceMs, this.#onSilent);
      this.#flow();
      // What happened before anybody listened makes no event any more.
      if (message.destroyed && !message.readableEnded) settle('source-broke');
    });
  }

  /** Counts the silence of a body that is read anew, of which there may be so much. */
  allowSilence(silenceMs: number): void {
    if (this.#endRead && !this.#isOver) this.#silence.start(silenceMs, this.#onSilent);
  }

  /**
   * Takes a body of known length away from HTTP, when the stream it comes over and its length are wanted.
   * `undefined` when it is to be read. Afterwards the stream is the caller's.
   */
  async take(isWanted: (below: Duplex, sizeBytes: number) => boolean): Promise<TakenBody | undefined> {
    const { stream } = this.#init;
    const message = this.#message;
    const sizeBytes = this.#takableBytes();
    if (!message || sizeBytes === undefined || !stream.below || !isWanted(stream.below, sizeBytes))
      return undefined;
    const prefix = await readHeld(stream, message);
    this.#isOver = true;
    const source = stream.detach();
    return source && { prefix, source, restBytes: sizeBytes - prefix.length };
  }

  /** Stops reading; paused time does not count as silence. */
  pause(): void {
    this.#isPaused = true;
    this.#flow();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow();
  }

  fail(failure: LonghaulError): void {
    if (this.#isOver) return;
    this.#silence.stop();
    this.#rejectHead(failure);
    if (this.#endRead) this.#endRead('source-broke');
    else this.#isOver = true;
    // Node takes a broken connection for the end of a body without length; it must stay a break.
    this.#message?.destroy(failure);
    this.#init.outgoing.destroy();
    this.#init.onFailed();
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

  /** Lets the answer come, or not: nothing is read ahead of what is wanted, because tiny chunks would fill a heap. */
  #flow(): void {
    const isStopped = this.#isPaused || this.#resting !== undefined;
    if (isStopped) this.#silence.pause();
    else this.#silence.resume();
    if (!this.#endRead) return;
    if (isStopped) {
      this.#message?.pause();
      this.#init.stream.hold();
    } else {
      this.#message?.resume();
      this.#letMoreCome();
    }
  }

  /**
   * Reads on once HTTP has handed over what it has: it counts bytes, and a thousand chunks of one byte each
   * are none.
   */
  #letMoreCome(): void {
    const isStopped = this.#isPaused || this.#resting !== undefined;
    if (!isStopped && this.#message?.readableLength === 0) this.#init.stream.release();
  }

  /** Whether it has a body of chunks, which HTTP would make objects of until they have the bytes of a buffer. */
  get #isChunked(): boolean {
    const { statusCode, headers } = this.#message ?? { headers: {} };
    const isGiven = this.#init.hasBody && (statusCode === 200 || statusCode === 206);
    return isGiven && headers['transfer-encoding'] !== undefined;
  }

  /** Length of a body that can be taken from HTTP: known, and not coded. */
  #takableBytes(): number | undefined {
    const { statusCode, headers } = this.#message ?? { headers: {} };
    const { 'content-length': length = '', 'transfer-encoding': coding } = headers;
    // What has come as a whole is in HTTP's hands already.
    const hasBody =
      this.#init.hasBody && !this.#message?.complete && (statusCode === 200 || statusCode === 206);
    if (!hasBody || coding !== undefined || !isLength(length)) return undefined;
    return Number(length) > 0 ? Number(length) : undefined;
  }
}

/** Everything of a held answer that has passed HTTP already. */
async function readHeld(stream: PendingStream, message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  do {
    for (let chunk: Buffer | null = message.read(); chunk !== null; chunk = message.read())
      chunks.push(chunk);
    // What HTTP left in the stream because its own buffer was full comes with the next turn.
    await nextTurn();
  } while (!stream.destroyed && (stream.readableLength > 0 || message.readableLength > 0));
  return Buffer.concat(chunks);
}

/** A final status, a length that numbers hold, and no transfer coding that would have to be undone beside chunks. */
function isUsable({ statusCode = 0, headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  const isKnownCoding = coding === undefined || coding.toLowerCase() === 'chunked';
  return (
    statusCode >= 200 && statusCode <= 599 && isKnownCoding && (length === undefined || isLength(length))
  );
}

/** What kept the stream from being made is told as it is. */
function failureOf(cause: Error): LonghaulError {
  const isMalformed = 'code' in cause && String(cause.code).startsWith('HPE_');
  return asLonghaulError(cause, isMalformed ? 'origin-bad-answer' : 'origin-unreachable');
}
