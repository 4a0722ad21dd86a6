import type { ClientRequest, IncomingMessage } from 'node:http';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import type { BlockTimes, OnChunk } from './lane-ways.ts';
import { Stopwatch } from './stopwatch.ts';

/** One request for a block with its answer; fails once, and then closes the connection. */
export class BlockExchange {
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
