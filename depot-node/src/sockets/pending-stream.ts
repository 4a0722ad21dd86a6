import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { endConnection, rememberRawSocket, resetConnection } from './reset.ts';

/** A portion of what comes of which HTTP may make an object for every six bytes: about a millisecond's work. */
const SMALL_PORTION_BYTES = 4096;
/** As much as is read from a connection at once. */
const LARGE_PORTION_BYTES = 65_536;

type Done = (error?: Error | null) => void;

/** Changes what comes; it may keep some back until more has come. */
export interface StreamRewriter {
  readonly take: (chunk: Buffer) => Buffer;
  /** Gives what was kept back when nothing comes any more. */
  readonly flush: () => Buffer | undefined;
}

/**
 * The end of a stream that is there before the stream below it is: what HTTP or TLS writes first can go along while a
 * chain is built. And it can be taken off again: the rest of a body then goes by the relay, without HTTP.
 */
export class PendingStream extends Duplex {
  #below: Duplex | undefined;
  #isHeld = false;
  /**
   * What came from below while nothing was to come: as it came, because HTTP makes an object of each small
   * chunk in it.
   */
  readonly #heldBack: Buffer[] = [];
  /** How much is passed on at once, so that whoever reads can have it held before the rest is handled. */
  #portionBytes = SMALL_PORTION_BYTES;
  #isCutSmall = false;
  /** Nothing comes any more behind what is held back. */
  #isEndHeldBack = false;
  readonly #first = Promise.withResolvers<Buffer>();
  #hasFirst = false;
  /** What rewrites what comes from below, until it is at rest. */
  #rewriter: StreamRewriter | undefined;
  /** A write that waits for the stream below. */
  #waiting: (() => void) | undefined;

  /**
   * The first write, or all of them where they come corked, which whoever makes the stream below sends along.
   * Never settles when nothing is written.
   */
  get firstBytes(): Promise<Buffer> {
    return this.#first.promise;
  }

  /** What it is connected to: a tunnel, or the origin's connection itself; perhaps secured. */
  get below(): Duplex | undefined {
    return this.#below;
  }

  /** Whether a cut of what comes can be told from its end: Node's TLS ends either way. */
  get tellsCuts(): boolean {
    return !(this.#below instanceof TLSSocket);
  }

  /** Connects the stream below; the first bytes have gone along with its making and are not sent again. */
  attach(below: Duplex): void {
    this.#below = below;
    rememberRawSocket(this, below);
    below.on('data', this.#onData);
    below.on('end', this.#onEnd);
    below.on('error', this.#onError);
    below.on('close', this.#onClose);
    if (below.destroyed) this.#onClose();
    this.#waiting?.();
  }

  /** Has what comes from now on rewritten. */
  rewriteBy(rewriter: StreamRewriter): void {
    this.#rewriter = rewriter;
  }

  /** Stops reading from below, until `release` or `detach`. */
  hold(): void {
    this.#isHeld = true;
    this.#below?.pause();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    // What HTTP makes of the first may be enough to be held again.
    for (let next = this.#heldBack.shift(); next; next = this.#isHeld ? undefined : this.#heldBack.shift())
      this.#pass(next);
    if (this.#isHeld) return;
    if (this.#isEndHeldBack) this.push(null);
    else this.#below?.resume();
  }

  /** Has what comes passed on in small portions from now on: it costs more than its bytes do. */
  cutSmall(): void {
    this.#portionBytes = SMALL_PORTION_BYTES;
    this.#isCutSmall = true;
  }

  /** Gives the stream below away, paused, with all that has not been read from it; this one then ends by itself. */
  detach(): Duplex | undefined {
    const below = this.#below;
    this.#below = undefined;
    below?.pause();
    below
      ?.off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('close', this.#onClose)
      // Whoever takes it may have to wait before he listens, and an error that nobody hears ends the process:
      // it shows in `destroyed`.
      .on('error', ignore);
    if (this.#heldBack.length > 0) below?.unshift(Buffer.concat(this.#heldBack.splice(0)));
    this.destroy();
    return below;
  }

  /** Ends the stream below cleanly: all that was wanted of it has come. */
  finish(): void {
    const below = this.detach();
    if (below) endConnection(below);
  }

  /** An HTTP agent marks a socket that it uses again as one that keeps the process alive; a stream has no such mark. */
  ref(): this {
    return this;
  }

  override _read(): void {
    if (!this.#isHeld) this.#below?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#send(chunk, done);
  }

  /** A first flight of TLS may come in several buffers, and is of use only as a whole. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: Done): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _destroy(failure: Error | null, done: Done): void {
    const below = this.#below;
    // Whoever has said his last, and was told nothing wrong, has cut nothing: a reset would look like a break
    // all along the chain.
    const isOver = failure === null && this.writableFinished;
    if (below && isOver && !below.destroyed) endConnection(below);
    else if (below) resetConnection(below);
    done(failure);
  }

  #send(bytes: Buffer, done: Done): void {
    if (!this.#hasFirst) {
      this.#hasFirst = true;
      this.#first.resolve(bytes);
      done();
    } else if (this.#below) this.#below.write(bytes, done);
    else this.#waiting = () => this.#below?.write(bytes, done);
  }

  /**
   * Passes on what has come, until it is held; what is left is the first of what is held back. Says whether
   * more may come.
   */
  #pass(chunk: Buffer): boolean {
    let mayGoOn = true;
    let rest = chunk;
    while (rest.length > 0 && !this.#isHeld) {
      const portion = rest.subarray(0, this.#portionBytes);
      rest = rest.subarray(portion.length);
      // Twice as much next time, unless what was in this one is a reason against.
      this.#portionBytes = Math.min(2 * this.#portionBytes, LARGE_PORTION_BYTES);
      mayGoOn = this.push(portion);
    }
    if (rest.length > 0) this.#heldBack.unshift(rest);
    return mayGoOn;
  }

  readonly #onData = (come: Buffer) => {
    const chunk = this.#rewriter?.take(come) ?? come;
    if (chunk.length === 0) return;
    if (this.#isHeld) this.#heldBack.push(chunk);
    else if (!this.#pass(chunk)) this.#below?.pause();
  };
  readonly #onEnd = () => {
    // Where nobody takes the stream away, its end can wait for what is before it.
    if (this.#isHeld && this.#isCutSmall) {
      this.#isEndHeldBack = true;
      return;
    }
    for (const chunk of this.#heldBack.splice(0)) this.push(chunk);
    const kept = this.#rewriter?.flush();
    if (kept) this.push(kept);
    this.push(null);
  };
  readonly #onError = (failure: Error) => this.destroy(failure);
  readonly #onClose = () => {
    if (!this.#below?.readableEnded) this.destroy(brokenOff());
  };
}

function ignore(): void {}

function brokenOff(): Error {
  return Object.assign(new Error('the stream to the origin broke off'), { code: 'ECONNRESET' });
}
