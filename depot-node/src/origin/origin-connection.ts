import type { Duplex } from 'node:stream';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import { Agent, request } from '@longhaul/shared/service';
import { MOST_HEAD_BYTES } from '../relay/answer-reader.ts';
import { PendingStream } from '../sockets/pending-stream.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { AskOptions, Conversation, OriginRequest } from './conversation.ts';
import { type BodyRead, Exchange, type PatientReadOptions, type TakenBody } from './exchange.ts';
import { LenientHead } from './lenient-head.ts';
import type { AnswerHead } from './representation.ts';

/** An origin's answer: its head, its body unread. */
export interface OriginAnswer {
  readonly head: AnswerHead;
  /** What its body comes over. */
  readonly connection: OriginConnection;
}

/**
 * Opens the stream to the origin that the connection goes over, and sends these bytes: over http along with the chain's
 * making, over https behind the handshake. Rejects with a `LonghaulError`.
 */
export type OpenStream = (firstBytes: Buffer, signal: AbortSignal) => Promise<Duplex>;

/**
 * Told to those who make a stream that is wanted no longer. One for all: a reason of its own would have a
 * stack, which nobody reads.
 */
const CLOSED = new Error('the connection to the origin is closed');

/**
 * A conversation with an origin in HTTP/1.1, one request at a time: ask for the head of an answer, then read
 * its body or take it away, then ask again or close. The stream that it goes over is made with the first
 * request.
 */
export class OriginConnection implements Conversation {
  /**
   * Resolves when the stream stands; rejects with what kept it from being made. Never settles when nothing is
   * asked.
   */
  readonly stands: Promise<void>;
  readonly mostQuestions = 1;
  readonly gaveBack = false;
  readonly #stream = new PendingStream();
  readonly #agent: OneStreamAgent;
  #exchange: Exchange | undefined;
  #isPaused = false;

  constructor(open: OpenStream) {
    this.#agent = new OneStreamAgent(this.#stream);
    const given = new AbortController();
    this.#stream.once('close', () => given.abort(CLOSED));
    // Between two requests nobody else listens.
    this.#stream.on('error', () => {});
    this.stands = attach(this.#stream, open, given.signal);
    this.stands.catch((failure) => this.#stream.destroy(asLonghaulError(failure, 'origin-unreachable')));
  }

  /** What it goes over, for whoever measures connections. */
  get stream(): Duplex {
    return this.#stream;
  }

  /** Whether a body that ends with the connection can be told from one that is cut. */
  get tellsCuts(): boolean {
    return this.#stream.tellsCuts;
  }

  /** Whether it can be asked: nothing runs, and neither end has ended it. */
  get isOpen(): boolean {
    const { destroyed, readableEnded, writable } = this.#stream;
    const isFree = this.#exchange === undefined || this.#exchange.mayFollow;
    return isFree && !destroyed && !readableEnded && writable;
  }

  /** Whether the origin has answered so that more can be asked over the same connection. */
  get isKept(): boolean {
    return this.#exchange?.isKept === true;
  }

  /**
   * Sends a request and gives the answer's head, the body unread. Rejects with a `LonghaulError`: of the chain, or
   * `origin-*`; the connection is over then.
   */
  async ask(asked: OriginRequest, { answerMs, signal }: AskOptions): Promise<AnswerHead> {
    if (!this.isOpen) throw new LonghaulError('origin-unreachable');
    const outgoing = request({
      method: asked.method,
      path: asked.target,
      headers: asked.headers,
      agent: this.#agent,
      maxHeaderSize: MOST_HEAD_BYTES,
    });
    const exchange = new Exchange({
      outgoing,
      hasBody: asked.method === 'GET',
      stream: this.#stream,
      onFailed: () => this.reset(),
    });
    this.#exchange = exchange;
    this.#stream.rewriteBy(new LenientHead());
    if (this.#isPaused) exchange.pause();
    // Until the stream stands the chain has its own deadlines.
    void this.stands.then(
      () => exchange.awaitAnswer(answerMs),
      () => {},
    );
    // Not left to the request itself: that would end the chain where a reset frees it at once.
    const onAbort = () => exchange.fail(new LonghaulError('origin-unreachable', { cause: signal?.reason }));
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted === true) onAbort();
    else outgoing.end();
    return exchange.head.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Reads the body of the answer. Never rejects; whatever is not `complete` has ended the connection. */
  async read(options: PatientReadOptions): Promise<BodyRead> {
    return this.#exchange?.read(options) ?? 'source-broke';
  }

  /** Counts the silence of a body that is read anew, of which there may be so much. */
  allowSilence(silenceMs: number): void {
    this.#exchange?.allowSilence(silenceMs);
  }

  /**
   * Takes a body of known length away from HTTP, when the stream it comes over and its length are wanted;
   * that stream is the caller's then, and this connection over. `undefined` when the body is to be read.
   */
  async takeBody(isWanted: (below: Duplex, sizeBytes: number) => boolean): Promise<TakenBody | undefined> {
    return this.#exchange?.take(isWanted);
  }

  /** Stops reading, until `resume`; paused time does not count as silence. */
  pause(): void {
    this.#isPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#exchange?.resume();
  }

  /** Ends the connection: cleanly when all that was asked for has been read, else by a reset. */
  close(): void {
    if (this.#exchange?.isRead === false) this.reset();
    else this.#stream.finish();
    this.#agent.destroy();
  }

  /** Breaks the connection off, which frees the whole chain at once; a body under way has broken. */
  reset(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    resetConnection(this.#stream);
    exchange?.fail(new LonghaulError('origin-unreachable'));
    this.#agent.destroy();
  }
}

async function attach(stream: PendingStream, open: OpenStream, signal: AbortSignal): Promise<void> {
  const below = await open(await stream.firstBytes, signal);
  if (stream.destroyed) {
    resetConnection(below);
    throw new LonghaulError('origin-unreachable');
  }
  stream.attach(below);
}

/** Leads every request over the one stream that it was made for. */
class OneStreamAgent extends Agent {
  #stream: Duplex | undefined;

  constructor(stream: Duplex) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#stream = stream;
  }

  override createConnection(): Duplex {
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) throw new LonghaulError('origin-unreachable');
    return stream;
  }

  /** The options of the socket are its stream's, and its life is the connection's. */
  override keepSocketAlive(): boolean {
    return true;
  }
}
