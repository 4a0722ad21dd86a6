import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LonghaulError } from '@longhaul/shared';
import { strongValidator } from '../../origin/representation.ts';
import { flushed } from '../../relay/prepare-ends.ts';
import type { BodyWatcher } from '../../relay/relay-plane.ts';
import { endConnection, resetConnection } from '../../sockets/reset.ts';
import { type BodyCare, NO_CARE } from './body-digest.ts';

export type ClientState = 'ready' | 'left' | 'stalled';

/** Writes that may wait for the client's kernel: the smallest chunk costs as much to keep as a few hundred bytes. */
const MOST_WAITING_WRITES = 256;

/** One for all: each download ends with it, and a reason of its own would have a stack, which nobody reads. */
const CLIENT_LEFT = new Error('the client has left, or has everything');

interface ClientBodyInit {
  /** How long the client may leave bytes unread. */
  readonly stallMs: number;
  readonly onBytes: (bytes: number) => void;
}

/**
 * The answer to a client: one stream of bytes, whatever they come from. It counts and digests them, and knows
 * whether the client is there, from before the head on.
 */
export class ClientBody {
  readonly #response: ServerResponse;
  readonly #init: ClientBodyInit;
  readonly #left = new AbortController();
  #care = NO_CARE;
  /** Whether the body is framed by its length alone. */
  #isCounted = false;
  /** Whether any client sees that a body is cut, also where its connection ends as that of a whole one does. */
  #showsCut = false;
  /** Has the client's connection end as that of a whole body does; set while it would be reset. */
  #letEnd: (() => void) | undefined;
  #bytes = 0;
  /** Whether the client's kernel has all that was taken in: nothing of it waits in this process. */
  #isOut = false;
  /** Whether the client's connection broke, instead of being closed. */
  #wasReset = false;
  #digest: BodyCare['digest'];
  #given: BodyCare['given'];
  /** Writes since the client's kernel had everything. */
  #waitingWrites = 0;
  /**
   * Settles when what was written last has gone to the client's kernel; set while there is room for nothing
   * before that.
   */
  #gone: Promise<void> | undefined;
  /** The last chunk so far, when the file must not be complete before it is known to be right. */
  #heldBack: Buffer | undefined;

  constructor(response: ServerResponse, init: ClientBodyInit) {
    this.#response = response;
    this.#init = init;
    response.once('close', this.#onClose);
    // It may have left while its ticket was checked.
    if (response.destroyed || response.socket?.destroyed === true) this.#onClose();
  }

  /** Writes the head; bytes may follow. */
  begin(statusCode: number, headers: readonly (readonly [string, string])[], care = NO_CARE): void {
    this.#care = care;
    this.#digest = care.digest;
    this.#given = care.given;
    const fields = fieldsOf(headers);
    this.#isCounted = fields['content-length'] !== undefined;
    this.#showsCut = showsCut(fields);
    this.#response.writeHead(statusCode, inWritableOrder(headers).flat());
    const { socket } = this;
    if (!this.#isEndedByClosing || !socket) return;
    // Before HTTP hears of it, which would end the connection as well.
    socket.prependListener('end', this.#onClientEnd);
    this.#response.once('close', () => socket.off('end', this.#onClientEnd));
  }

  /**
   * Has the client's connection end by a reset until the body is whole, where a cut one might look so: not
   * even the death of this process makes it an ended one then. To be called behind the head.
   */
  guard(resetOnClose: ((client: Socket) => () => void) | undefined): void {
    const { socket } = this;
    if (socket && !this.#showsCut) this.#letEnd = resetOnClose?.(socket);
  }

  /** Aborts when the client has left. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Bytes taken in so far; one of them may be held back. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The digest of all these bytes, where it is kept. */
  get given(): BodyCare['given'] {
    return this.#given;
  }

  /** The client's connection, for the relay. */
  get socket(): Socket | undefined {
    return this.#response.socket ?? undefined;
  }

  /** Whether nothing but the end of its connection tells the client where the body ends. */
  get #isEndedByClosing(): boolean {
    return !this.#isCounted && !this.#response.chunkedEncoding;
  }

  /**
   * Whether bytes may go to the client's connection past this thread: whoever must see them does so there,
   * and nothing frames them.
   */
  get mayBypass(): boolean {
    const isSeen = !this.#digest || this.#digest.flow !== undefined;
    return this.#isCounted && (isSeen || !this.#care.mustSee);
  }

  /**
   * The bytes at the end of the file that have to pass here, so that it is not complete before it is known to
   * be right.
   */
  get heldBackBytes(): number {
    return this.#care.holdsBack ? 1 : 0;
  }

  /** Who takes in what goes past this thread; `undefined` where nobody has to. */
  get watcher(): BodyWatcher | undefined {
    if (!this.#care.mustSee) return undefined;
    return {
      digest: this.#digest?.flow,
      tagKey: this.#given?.key,
      onTags: (segments) => this.#given?.updateTagged(segments),
      onChunk: (chunk) => {
        this.#digest?.update(chunk);
        this.#given?.update(chunk);
      },
    };
  }

  /** Takes a chunk in; says whether the client has room for more. */
  write(chunk: Buffer): boolean {
    this.#note(chunk.length);
    this.#isOut = false;
    this.#digest?.update(chunk);
    this.#given?.update(chunk);
    if (!this.#care.holdsBack) return this.#send(chunk);
    const next = this.#heldBack;
    this.#heldBack = chunk;
    return next === undefined || this.#send(next);
  }

  /** Sends everything before bytes that do not pass here: the head, where it has not gone, and what was held back. */
  sendAll(): void {
    this.#sendHead();
    if (this.#heldBack) this.#send(this.#heldBack);
    this.#heldBack = undefined;
  }

  /** Sends a head whose characters are bytes: alone, Node would write it as UTF-8. */
  #sendHead(): void {
    const { socket } = this.#response;
    socket?.setDefaultEncoding('latin1');
    this.#response.flushHeaders();
    socket?.setDefaultEncoding('utf8');
  }

  /**
   * Counts bytes that the client's kernel took without their passing here, behind all others; only its
   * watcher saw them.
   */
  skip(bytes: number): void {
    this.#note(bytes);
    this.#isOut = true;
    if (bytes === 0 || this.#care.mustSee) return;
    this.#digest?.drop();
    this.#digest = undefined;
  }

  /** Counts bytes that came again, and that the client does not get, against what may be relayed for it. */
  noteAgain(bytes: number): void {
    this.#init.onBytes(bytes);
  }

  /** Waits until the client has room again. */
  async roomy(signal: AbortSignal): Promise<ClientState | 'cancelled'> {
    const response = this.#response;
    if (this.left.aborted) return 'left';
    if (!response.writableNeedDrain && !this.#gone) return 'ready';
    return new Promise((resolve) => {
      const settle = (state: ClientState | 'cancelled') => {
        clearTimeout(timer);
        response.off('drain', onDrain).off('close', onLeft);
        signal.removeEventListener('abort', onAbort);
        resolve(state);
      };
      const onDrain = () => settle('ready');
      const onLeft = () => settle('left');
      const onAbort = () => settle('cancelled');
      const timer = setTimeout(() => settle('stalled'), this.#init.stallMs);
      // A body whose end was asked for meanwhile drains without a word; its close comes in any case.
      response.once('drain', onDrain).once('close', onLeft);
      void this.#gone?.then(onDrain);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  /**
   * Ends the body and waits until the client's kernel has it all, which may have been before the client closed its
   * connection. Throws `origin-digest-wrong` for a file that is not what the origin states, which is then not complete.
   * Gives the SHA-256 of a whole file that passed.
   */
  async finish(
    signal: AbortSignal,
  ): Promise<{ readonly state: ClientState; readonly sha256: string | undefined }> {
    const digest = await this.#digest?.finish();
    this.#digest = undefined;
    if (digest?.isWrong === true) throw new LonghaulError('origin-digest-wrong');
    if (this.#heldBack) this.#response.write(this.#heldBack);
    this.#heldBack = undefined;
    const broken = await this.#unguard(signal);
    if (broken) return { state: broken, sha256: digest?.sha256 };
    this.#response.off('close', this.#onClose);
    const state = await this.#end(signal);
    return { state, sha256: digest?.sha256 };
  }

  /**
   * Ends the client's connection behind what has come, where any client sees by the answer's head that it is
   * cut: a browser goes on by itself at another address of the same name after an end, and not after a reset.
   * Any other answer may look whole, and is reset.
   */
  cut(): void {
    const { socket } = this.#response;
    if (!this.#showsCut || !socket || this.left.aborted) return this.reset();
    this.#letGo();
    endConnection(socket);
  }

  /** Resets the client's connection, so that what it has never looks complete. */
  reset(): void {
    this.#letGo();
    // A connection that the client has left is gone already.
    if (this.#response.socket) resetConnection(this.#response.socket);
    this.#response.destroy();
  }

  /**
   * Lets the client's connection end once its kernel has the whole body: a reset would take from it what it
   * has not read. Says what keeps it from that.
   */
  async #unguard(signal: AbortSignal): Promise<ClientState | undefined> {
    const { socket } = this;
    if (!this.#letEnd || !socket) return undefined;
    const flush = socket.writableLength > 0 ? await flushed(socket, this.#init.stallMs, signal) : 'flushed';
    this.#letEnd();
    this.#letEnd = undefined;
    if (flush === 'flushed') return undefined;
    return flush === 'timeout' ? 'stalled' : 'left';
  }

  #letGo(): void {
    this.#digest?.drop();
    this.#digest = undefined;
    this.#response.off('close', this.#onClose);
  }

  /** Says whether the client has room for more. */
  #send(chunk: Buffer): boolean {
    const response = this.#response;
    this.#waitingWrites = response.writableLength === 0 ? 0 : this.#waitingWrites + 1;
    if (this.#waitingWrites < MOST_WAITING_WRITES || this.#gone)
      return response.write(chunk) && this.#gone === undefined;
    this.#gone = new Promise((resolve) => {
      response.write(chunk, () => {
        this.#gone = undefined;
        resolve();
      });
    });
    return false;
  }

  #end(signal: AbortSignal): Promise<ClientState> {
    const response = this.#response;
    if (this.left.aborted) return Promise.resolve(this.#isOut && !this.#wasReset ? 'ready' : 'left');
    return new Promise((resolve) => {
      const settle = (state: ClientState) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve(state);
      };
      const onAbort = () => settle('left');
      const timer = setTimeout(() => settle('stalled'), this.#init.stallMs);
      signal.addEventListener('abort', onAbort);
      response.once('close', () => settle(response.writableFinished ? 'ready' : 'left'));
      response.end(() => settle('ready'));
    });
  }

  #note(bytes: number): void {
    this.#bytes += bytes;
    this.#init.onBytes(bytes);
  }

  /** The client sends nothing more: what it has must not look whole to it. */
  readonly #onClientEnd = () => {
    const { socket } = this;
    if (socket && !this.#response.writableFinished) resetConnection(socket);
  };

  readonly #onClose = () => {
    this.#wasReset = Boolean(this.#response.socket?.errored);
    this.#left.abort(CLIENT_LEFT);
  };
}

type Fields = Readonly<Record<string, string>>;

/** By their names in small letters; of several of one name the first. */
function fieldsOf(headers: readonly (readonly [string, string])[]): Fields {
  return Object.fromEntries(
    headers.map(([name, value]) => [name.toLowerCase(), value] as const).toReversed(),
  );
}

/**
 * Whether any client sees that less has come than the head says. Chromium takes less than `Content-Length`
 * for the whole of what has no strong validator, which it could not go on with; and Firefox does not count
 * what comes in a coding.
 */
function showsCut(fields: Fields): boolean {
  const isCounted = fields['content-length'] !== undefined && fields['content-encoding'] === undefined;
  return isCounted && strongValidator(fields) !== undefined;
}

/**
 * Behind a `Content-Length` Node reads a `Content-Disposition` as UTF-8, and throws for most of what its
 * bytes stand for then.
 */
function inWritableOrder(headers: readonly (readonly [string, string])[]) {
  const isName = ([name]: readonly [string, string]) => /^content-disposition$/i.test(name);
  return headers.toSorted((one, other) => Number(isName(other)) - Number(isName(one)));
}
