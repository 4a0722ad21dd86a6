import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import { headersForPart, type Part, type Representation, whyNotJoined } from '../entry/representation.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { LaneStream } from './lane-stream.ts';
import type { BlockConnection, BlockTimes, OnChunk } from './lane-ways.ts';
import { OriginBusy, readRetryAfter } from './origin-busy.ts';
import { Stopwatch } from './stopwatch.ts';

export interface HttpBlockInit {
  /** The way to the origin, which may not stand yet; this connection's own from now on. */
  readonly stream: LaneStream;
  /** Request target. */
  readonly path: string;
  /** Sent with every request, `Host` among them; those of the connection and of the part are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** Silence while bytes are wanted, after which the connection has broken. */
  readonly silenceMs: number;
  readonly nowMs: () => number;
}

/** The head of an answer, its body unread. */
export interface HeldAnswer {
  readonly answer: IncomingMessage;
  /** Reads the body, which must be exactly as long as this. Rejects as `BlockConnection.fetch` does. */
  readonly read: (sizeBytes: number, onChunk: OnChunk) => Promise<BlockTimes>;
}

/** Blocks by HTTP/1.1, one request after the other over one connection that stays. */
export class HttpBlockConnection implements BlockConnection {
  readonly #init: HttpBlockInit;
  readonly #agent: StreamAgent;
  #running: Exchange | undefined;
  #isPaused = false;
  #isClosed = false;
  #stands = false;
  /** What the parts are parts of; known after the first answer at the latest. */
  representation: Representation | undefined;

  constructor(init: HttpBlockInit, representation?: Representation) {
    this.#init = init;
    this.representation = representation;
    this.#agent = new StreamAgent(init.stream);
    // Between blocks nobody else listens.
    init.stream.on('error', () => {});
    init.stream.once('attached', () => {
      this.#stands = true;
      this.#running?.watchSilence();
    });
  }

  get isOver(): boolean {
    const { stream } = this.#init;
    return this.#isClosed || stream.destroyed || stream.readableEnded || !stream.writable;
  }

  async fetch(part: Part, onChunk: OnChunk): Promise<BlockTimes> {
    const { representation } = this;
    if (!representation) throw new LonghaulError('internal', { detail: 'no version to ask for' });
    const held = await this.ask(headersForPart(representation, part));
    const { statusCode = 0, headers } = held.answer;
    const isBusy = statusCode === 429 || statusCode === 503;
    const why = whyNotJoined(held.answer, representation, part);
    if (why) {
      this.close();
      throw isBusy ? new OriginBusy(statusCode, readRetryAfter(headers)) : new LonghaulError(why);
    }
    return held.read(part.endByte - part.startByte, onChunk);
  }

  /** Asks with these headers besides, and gives the answer's head. Rejects as `fetch` does when none comes. */
  async ask(headers: Readonly<Record<string, string>>): Promise<HeldAnswer> {
    if (this.isOver || this.#running) throw new LonghaulError('origin-unreachable');
    const { path, silenceMs, nowMs } = this.#init;
    const outgoing = request({
      path,
      headers: { ...this.#init.headers, ...headers, connection: 'keep-alive' },
      agent: this.#agent,
    });
    const exchange = new Exchange(outgoing, silenceMs, nowMs, () => this.close());
    this.#running = exchange;
    if (this.#isPaused) exchange.pause();
    if (this.#stands) exchange.watchSilence();
    outgoing.end();
    const answer = await exchange.answered;
    const read = async (sizeBytes: number, onChunk: OnChunk) => {
      const times = await exchange.read(answer, sizeBytes, onChunk);
      this.#running = undefined;
      if (!outgoing.shouldKeepAlive) this.#isClosed = true;
      return times;
    };
    return { answer, read };
  }

  pause(): void {
    this.#isPaused = true;
    this.#running?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#running?.resume();
  }

  close(): void {
    this.#isClosed = true;
    const running = this.#running;
    this.#running = undefined;
    // A reset frees the chain at once; a mere end would leave it open until the origin has more to send.
    resetConnection(this.#init.stream);
    running?.fail(new LonghaulError('origin-unreachable'));
    this.#agent.destroy();
  }
}

/** Leads every request over the one stream it was made for. */
class StreamAgent extends Agent {
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

  /** The options of the socket are its way's, and its life is the lane's. */
  override keepSocketAlive(): boolean {
    return true;
  }
}

/** One request with its answer. */
class Exchange {
  readonly answered: Promise<IncomingMessage>;
  readonly #outgoing: ClientRequest;
  readonly #silenceMs: number;
  readonly #watch: Stopwatch;
  readonly #close: () => void;
  #answer: IncomingMessage | undefined;
  #fail: (failure: LonghaulError) => void;
  #timer: NodeJS.Timeout | undefined;
  #isWatched = false;
  #isPaused = false;
  #isRead = false;

  constructor(outgoing: ClientRequest, silenceMs: number, nowMs: () => number, close: () => void) {
    this.#outgoing = outgoing;
    this.#silenceMs = silenceMs;
    this.#watch = new Stopwatch(nowMs);
    this.#close = close;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    this.answered = promise;
    this.#fail = reject;
    // An origin has no business to switch protocols on a plain GET.
    outgoing.once('upgrade', () => this.fail(new LonghaulError('origin-bad-answer')));
    outgoing.on('error', (cause) => this.fail(failureOf(cause)));
    outgoing.once('response', (answer) => {
      this.#answer = answer;
      answer.pause();
      answer.on('error', (cause) => this.fail(failureOf(cause)));
      // Nobody wants bytes until the body is read.
      this.#stopTimer();
      this.#isWatched = false;
      resolve(answer);
    });
  }

  /** Begins to count silence: the way stands. Until then its making has deadlines of its own. */
  watchSilence(): void {
    this.#isWatched = true;
    this.#restartTimer();
  }

  read(answer: IncomingMessage, sizeBytes: number, onChunk: OnChunk): Promise<BlockTimes> {
    const { promise, resolve, reject } = Promise.withResolvers<BlockTimes>();
    this.#fail = reject;
    this.#isRead = true;
    this.watchSilence();
    let restBytes = sizeBytes;
    let firstByteMs: number | undefined;
    answer.on('data', (chunk: Buffer) => {
      firstByteMs ??= this.#watch.elapsedMs;
      restBytes -= chunk.length;
      if (restBytes < 0) {
        this.fail(new LonghaulError('origin-bad-answer', { detail: 'more bytes than were asked for' }));
        return;
      }
      this.#restartTimer();
      onChunk(chunk);
    });
    answer.once('end', () => {
      this.#stopTimer();
      const wholeMs = this.#watch.elapsedMs;
      if (restBytes === 0) resolve({ firstByteMs: firstByteMs ?? wholeMs, wholeMs });
      else this.fail(new LonghaulError('origin-unreachable', { detail: 'fewer bytes than were asked for' }));
    });
    if (answer.destroyed) this.fail(new LonghaulError('origin-unreachable'));
    else if (!this.#isPaused) answer.resume();
    return promise;
  }

  pause(): void {
    this.#isPaused = true;
    this.#watch.stop();
    this.#stopTimer();
    this.#answer?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#watch.start();
    this.#restartTimer();
    if (this.#isRead) this.#answer?.resume();
  }

  fail(failure: LonghaulError): void {
    this.#stopTimer();
    this.#isWatched = false;
    this.#fail(failure);
    this.#outgoing.destroy();
    this.#close();
  }

  #restartTimer(): void {
    if (!this.#isWatched || this.#isPaused) return;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.fail(new LonghaulError('origin-timeout')), this.#silenceMs);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** What kept the way from being made is told as it is. */
function failureOf(cause: Error): LonghaulError {
  const isMalformed = 'code' in cause && String(cause.code).startsWith('HPE_');
  return asLonghaulError(cause, isMalformed ? 'origin-bad-answer' : 'origin-unreachable');
}
