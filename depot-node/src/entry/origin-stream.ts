import { Duplex } from 'node:stream';
import { rememberRawSocket, resetConnection } from '../sockets/reset.ts';

type Done = (error?: Error | null) => void;

/**
 * The HTTP client's end of the way to an origin. It is there before the way is: what is written first can go along while
 * the chain is built. And it can be taken off again: the rest of a body then goes by the relay, without HTTP.
 */
export class OriginStream extends Duplex {
  #way: Duplex | undefined;
  #isHeld = false;
  #isOver = false;
  readonly #first = Promise.withResolvers<Buffer>();
  #hasFirst = false;
  /** A write that waits for the way. */
  #waiting: (() => void) | undefined;

  /** The first write, which the way's maker sends along. Never settles when nothing is written. */
  get firstBytes(): Promise<Buffer> {
    return this.#first.promise;
  }

  /** What it is connected to: a tunnel, or the origin's connection itself; perhaps secured. */
  get way(): Duplex | undefined {
    return this.#way;
  }

  /** Connects the way; the first bytes have gone along with its making and are not sent again. */
  attach(way: Duplex): void {
    this.#way = way;
    rememberRawSocket(this, way);
    way.on('data', this.#onData);
    way.on('end', this.#onEnd);
    way.on('error', this.#onError);
    way.on('close', this.#onClose);
    if (way.destroyed) this.#onClose();
    this.#waiting?.();
    this.emit('attached');
  }

  /** The exchange has been whole: the way then ends cleanly instead of being broken off. */
  complete(): void {
    this.#isOver = true;
  }

  /** Stops reading from the way, until `release` or `detach`; what has been read still flows to HTTP. */
  hold(): void {
    this.#isHeld = true;
    this.#way?.pause();
  }

  release(): void {
    this.#isHeld = false;
    this.#way?.resume();
  }

  /** Gives the way away, paused, with all that has not been read from it; this stream then ends by itself. */
  detach(): Duplex | undefined {
    const way = this.#way;
    this.#way = undefined;
    way?.pause();
    way
      ?.off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    this.destroy();
    return way;
  }

  override _read(): void {
    if (!this.#isHeld) this.#way?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (!this.#hasFirst) {
      this.#hasFirst = true;
      this.#first.resolve(chunk);
      done();
    } else if (this.#way) this.#way.write(chunk, done);
    else this.#waiting = () => this.#way?.write(chunk, done);
  }

  override _destroy(failure: Error | null, done: Done): void {
    const way = this.#way;
    if (way && this.#isOver && !failure) way.end(() => way.destroy());
    else if (way) resetConnection(way);
    done(failure);
  }

  readonly #onData = (chunk: Buffer) => {
    if (!this.push(chunk)) this.#way?.pause();
  };
  readonly #onEnd = () => this.push(null);
  readonly #onError = (failure: Error) => this.destroy(failure);
  readonly #onClose = () => {
    if (!this.#way?.readableEnded) this.destroy(brokenOff());
  };
}

function brokenOff(): Error {
  return Object.assign(new Error('the way to the origin broke off'), { code: 'ECONNRESET' });
}
