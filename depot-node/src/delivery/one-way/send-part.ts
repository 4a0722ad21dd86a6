import { type Duplex, PassThrough } from 'node:stream';
import type { KnownPrefix } from '../../digests/running-digest.ts';
import type { BodyRead, TakenBody } from '../../origin/exchange.ts';
import type { OriginAnswer, OriginConnection } from '../../origin/origin-connection.ts';
import { LinkedAbort } from '../../racing/linked-abort.ts';
import type { BodyEnd, BodyOptions, BodyOutcome, ChoosingRelay } from '../../relay/relay-plane.ts';
import { endConnection, resetConnection } from '../../sockets/reset.ts';
import type { ClientBody } from '../download/client-body.ts';

export interface PartOptions {
  readonly relay: ChoosingRelay;
  readonly stallMs: number;
  /**
   * Length of the body where it is known, whatever frames it: chunks can be more or less than `Content-Range` says, and
   * a body that ends with its connection less.
   */
  readonly sizeBytes?: number | undefined;
  /** What comes again before the client's next byte. */
  readonly prefix?: KnownPrefix | undefined;
  /** Told of bytes that came again. */
  readonly onAgain?: (bytes: number) => void;
}

export interface SendLimits {
  /** Stops it. */
  readonly signal: AbortSignal;
  /** Silence of the origin, while the client wants bytes, after which it stops. */
  readonly silenceMs: number;
  /** Told that something has come, be it again. */
  readonly onCome?: () => void;
}

/** How the sending of one answer ended. `other-bytes`: it does not begin with what the client has. */
export type PartEnd = BodyEnd | 'other-bytes';

/** The body of one answer on its way to a client. */
export interface PartSender {
  /**
   * Sends on, to the end or until it is stopped: after `source-silent` and `cancelled` the connection stands,
   * nothing of it goes to the client, and it may be sent on from where it stopped. Never rejects.
   */
  readonly send: (limits: SendLimits) => Promise<PartEnd>;
  /** Ends the connection, by a reset unless all has come: nothing more of it goes to the client. */
  readonly leave: () => void;
}

/** Sends the body of one answer on, all at once; what stops it ends its connection. Never rejects. */
export async function sendPart(
  answer: Pick<OriginAnswer, 'connection'>,
  client: ClientBody,
  options: PartOptions & SendLimits,
): Promise<PartEnd> {
  const part = await takePart(answer, client, options);
  const end = await part.send(options);
  part.leave();
  return end;
}

/**
 * Takes the body of one answer, to send it on: a long one by the kernel where that is possible, all others
 * through this process. The connection to the origin is used up afterwards; the client's is not touched
 * beyond what has come, so that another answer may go on where this one ended. An answer that brings again
 * what the client has is read from its first byte.
 */
export async function takePart(
  { connection }: Pick<OriginAnswer, 'connection'>,
  client: ClientBody,
  options: PartOptions,
): Promise<PartSender> {
  const { socket } = client;
  const mayBypass = client.mayBypass && options.prefix === undefined;
  const taken = await connection.takeBody(
    (below, sizeBytes) =>
      socket !== undefined && mayBypass && options.relay.splices(below, socket, sizeBytes),
  );
  return taken ? new RelayedPart(taken, client, options) : new PumpedPart(connection, client, options);
}

/** Told to those who wait for the client. One for all: a reason of its own would have a stack, which nobody reads. */
const OVER = new Error('nothing more of this answer goes to the client');

/** Whether a part whose sending has ended so can be sent on. */
function mayGoOn(end: PartEnd): boolean {
  return end === 'source-silent' || end === 'cancelled';
}

/** A client may close with the last byte, and a depot that gives up closes by itself: neither has left its download. */
function endFor(client: ClientBody, end: PartEnd, signal: AbortSignal): PartEnd {
  return client.left.aborted && end !== 'complete' && !signal.aborted ? 'sink-broke' : end;
}

/** A body that goes past HTTP: the message of the client's side stays open until all of it has come. */
class RelayedPart implements PartSender {
  readonly #source: Duplex;
  readonly #client: ClientBody;
  readonly #options: PartOptions;
  /** What had come with its head, until it has gone. */
  #prefix: Buffer;
  #restBytes: number;
  #isOver = false;

  constructor({ prefix, source, restBytes }: TakenBody, client: ClientBody, options: PartOptions) {
    this.#source = source;
    this.#client = client;
    this.#options = options;
    this.#prefix = prefix;
    this.#restBytes = restBytes;
  }

  async send(limits: SendLimits): Promise<PartEnd> {
    const end = await this.#relay(limits);
    if (end === 'complete') {
      this.#isOver = true;
      // One exchange is all that the connection was opened for.
      endConnection(this.#source);
    } else if (!mayGoOn(end)) this.leave();
    return endFor(this.#client, end, limits.signal);
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    resetConnection(this.#source);
  }

  async #relay({ signal, silenceMs, onCome }: SendLimits): Promise<BodyEnd> {
    const client = this.#client;
    const source = this.#source;
    const { relay, stallMs } = this.#options;
    // Nothing of the body may have come with its head, which then is still in HTTP's hands.
    if (this.#prefix.length > 0) client.write(this.#prefix);
    this.#prefix = Buffer.alloc(0);
    if (this.#restBytes > 0) client.sendAll();
    const sink = client.socket;
    if (!sink) return 'sink-broke';
    const over = new LinkedAbort(signal, client.left);
    try {
      const limits = { signal: over.signal, silenceMs, stallMs };
      const passing = Math.min(client.heldBackBytes, this.#restBytes);
      const relayed = await relay.body(source, sink, {
        ...limits,
        sizeBytes: this.#restBytes - passing,
        onBytes: (bytes) => {
          client.skip(bytes);
          onCome?.();
        },
        watcher: client.watcher,
      });
      this.#restBytes -= relayed.bytes;
      if (relayed.outcome !== 'complete' || passing === 0) return relayed.outcome;
      const last = await passLast(relay, source, client, { ...limits, sizeBytes: passing });
      this.#restBytes -= last.bytes;
      return last.outcome;
    } finally {
      over.leave();
    }
  }
}

/** Hands the last bytes of a body to the client through this thread, which may hold them back. */
async function passLast(
  relay: ChoosingRelay,
  source: Duplex,
  client: ClientBody,
  options: BodyOptions,
): Promise<BodyOutcome> {
  const last = new PassThrough();
  const end = await relay.body(source, last, options);
  const bytes: Buffer | null = last.read();
  if (bytes) client.write(bytes);
  return end;
}

/** A body that goes through this process. */
class PumpedPart implements PartSender {
  readonly #connection: OriginConnection;
  readonly #client: ClientBody;
  readonly #options: PartOptions;
  /** Aborts when it is over: nothing of what is still on its way through this process goes on. */
  readonly #over = new AbortController();
  /** How it ended, where it was not left. */
  #end: PartEnd | undefined;
  #hasBegun = false;
  #isStopped = false;
  #isWaiting = false;
  #isLeft = false;
  #stop: (end: PartEnd) => void = () => undefined;
  #onCome: (() => void) | undefined;

  constructor(connection: OriginConnection, client: ClientBody, options: PartOptions) {
    this.#connection = connection;
    this.#client = client;
    this.#options = options;
  }

  async send({ signal, silenceMs, onCome }: SendLimits): Promise<PartEnd> {
    const { left } = this.#client;
    if (this.#end) return this.#end;
    const stopped = Promise.withResolvers<PartEnd>();
    this.#stop = stopped.resolve;
    this.#onCome = onCome;
    const onAbort = () => stopped.resolve('cancelled');
    const onLeft = () => this.#finish('sink-broke');
    signal.addEventListener('abort', onAbort);
    left.addEventListener('abort', onLeft);
    if (left.aborted) onLeft();
    else if (signal.aborted) onAbort();
    this.#isStopped = false;
    if (this.#hasBegun) {
      this.#connection.allowSilence(silenceMs);
      this.#flow();
    } else void this.#read(silenceMs);
    const end = await stopped.promise;
    signal.removeEventListener('abort', onAbort);
    left.removeEventListener('abort', onLeft);
    this.#isStopped = true;
    if (mayGoOn(end)) this.#flow();
    else this.leave();
    return endFor(this.#client, end, signal);
  }

  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#over.abort(OVER);
    this.#connection.close();
  }

  async #read(silenceMs: number): Promise<void> {
    const { sizeBytes, prefix } = this.#options;
    this.#hasBegun = true;
    const end = await this.#connection.read({
      sizeBytes,
      silenceMs,
      onSilent: () => this.#stop('source-silent'),
      onChunk: (chunk) => this.#pass(chunk),
    });
    this.#finish(partEndOf(end, prefix));
  }

  #pass(chunk: Buffer): void {
    if (this.#over.signal.aborted) return;
    const fresh = this.#newBytes(chunk);
    if (fresh && fresh.length > 0 && !this.#client.write(fresh)) void this.#waitForClient();
    this.#onCome?.();
  }

  #newBytes(chunk: Buffer): Buffer | undefined {
    const { prefix, onAgain } = this.#options;
    if (!prefix || prefix.restBytes === 0) return chunk;
    const fresh = prefix.take(chunk);
    onAgain?.(chunk.length - (fresh?.length ?? 0));
    if (!fresh) this.#finish('other-bytes');
    return fresh;
  }

  async #waitForClient(): Promise<void> {
    // What HTTP had in its hands when it was paused still comes.
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#flow();
    const state = await this.#client.roomy(this.#over.signal);
    this.#isWaiting = false;
    if (state === 'ready') this.#flow();
    else if (state === 'stalled') this.#finish('sink-stalled');
  }

  /** Lets the body come while it is sent and the client has room. */
  #flow(): void {
    if (this.#over.signal.aborted) return;
    if (this.#isStopped || this.#isWaiting) this.#connection.pause();
    else this.#connection.resume();
  }

  #finish(end: PartEnd): void {
    if (this.#over.signal.aborted) return;
    this.#end = end;
    this.#over.abort(OVER);
    this.#stop(end);
  }
}

function partEndOf(end: BodyRead, prefix: KnownPrefix | undefined): PartEnd {
  if (end === 'complete' && prefix && prefix.restBytes > 0) return 'other-bytes';
  return end === 'too-long' ? 'source-broke' : end;
}
