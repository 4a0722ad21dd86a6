import { type Duplex, PassThrough } from 'node:stream';
import { formatAuthority, LonghaulError, type OriginPlace } from '@longhaul/shared';
import { FairRoom } from '@longhaul/shared/service';
import { EarlyBytes } from '../legs/early-bytes.ts';
import type { ChainTarget } from '../legs/next-leg.ts';
import { endConnection, resetConnection } from '../sockets/reset.ts';

/** A client comes within a few round trips of its redirect; an origin may end what says nothing for longer. */
const WAITS_MS = 5_000;

/** What became of a way: its client came; nobody came in time, or the origin ended it; it could not be made. */
export type PreparedWayEnd = 'used' | 'unused' | 'failed';

/**
 * Makes a way to an origin: over http what comes of `early` goes along, over https the handshake. Rejects
 * with a `LonghaulError`.
 */
type OpenWay = (
  over: ChainTarget,
  origin: OriginPlace,
  early: EarlyBytes,
  signal: AbortSignal,
) => Promise<Duplex>;

interface PreparedWaysInit {
  readonly open: OpenWay;
  /**
   * Ways that wait, or are being made, at once; of them one client network has no more than it leaves free.
   * 0: none.
   */
  readonly most: number;
  readonly onEnd: (end: PreparedWayEnd) => void;
  /** How long a way waits, or is made, for a client that does not come. */
  readonly waitsMs?: number;
  readonly nowMs: () => number;
}

/**
 * Ways to origins that are made while their clients are still being led here. Each is there for the first
 * request alone.
 */
export class PreparedWays {
  readonly #init: PreparedWaysInit;
  readonly #room: FairRoom;
  readonly #ways = new Map<string, PreparedWay>();
  #isClosed = false;

  constructor(init: PreparedWaysInit) {
    this.#init = init;
    this.#room = new FairRoom(init.most);
  }

  /** Makes a way for a client network, if there is room and none is waiting for the same. */
  prepare(over: ChainTarget & { readonly client: string }, origin: OriginPlace): void {
    const key = keyOf(over, origin);
    if (this.#isClosed || this.#ways.has(key) || !this.#room.take(over.client, 1)) return;
    const onEnd = (end: PreparedWayEnd) => {
      this.#ways.delete(key);
      this.#room.giveBack(over.client, 1);
      this.#init.onEnd(end);
    };
    const open = (early: EarlyBytes, signal: AbortSignal) => this.#init.open(over, origin, early, signal);
    const { nowMs, waitsMs = WAITS_MS } = this.#init;
    this.#ways.set(key, new PreparedWay({ client: over.client, open, onEnd, waitsMs, nowMs }));
  }

  /**
   * The way that was made for this ticket, chain, origin and client, which is the caller's from now on. A
   * client that comes from another network than a master saw has none: what is held for it counts for its
   * own. One that has IPv4 and IPv6 has two of its own.
   */
  take(over: ChainTarget, origin: OriginPlace): PreparedWay | undefined {
    const way = this.#ways.get(keyOf(over, origin));
    return way?.isFor(over.client ?? '') && way.take() ? way : undefined;
  }

  /** Ends all that wait, and makes none any more. */
  close(): void {
    this.#isClosed = true;
    for (const way of this.#ways.values()) way.drop('unused');
  }
}

function keyOf({ ticket, chainIndex }: ChainTarget, { scheme, host, port }: OriginPlace): string {
  return [ticket, chainIndex, scheme, formatAuthority(host, port)].join(' ');
}

interface PreparedWayInit {
  /** The client's network, as its master saw it. */
  readonly client: string;
  readonly open: (early: EarlyBytes, signal: AbortSignal) => Promise<Duplex>;
  readonly onEnd: (end: PreparedWayEnd) => void;
  readonly waitsMs: number;
  readonly nowMs: () => number;
}

/** A way that is being made, or waits: somebody takes it and says what the origin is told first, or it is dropped. */
export class PreparedWay {
  readonly #client: string;
  readonly #onEnd: (end: PreparedWayEnd) => void;
  readonly #stop = new AbortController();
  /** What comes for the origin while the way is made. */
  readonly #late = new PassThrough();
  readonly #making: Promise<Duplex>;
  readonly #timer: NodeJS.Timeout;
  readonly #nowMs: () => number;
  readonly #beganAtMs: number;
  #stoodAtMs: number | undefined;
  #standing: Duplex | undefined;
  #isOver = false;

  constructor({ client, open, onEnd, waitsMs, nowMs }: PreparedWayInit) {
    this.#client = client;
    this.#onEnd = onEnd;
    this.#nowMs = nowMs;
    this.#beganAtMs = nowMs();
    this.#timer = setTimeout(() => this.drop('unused'), waitsMs).unref();
    this.#making = open(new EarlyBytes(Buffer.alloc(0), this.#late), this.#stop.signal);
    this.#making.then(
      (stream) => this.#stand(stream),
      () => this.drop('failed'),
    );
  }

  /**
   * When the making of a way that is asked then would have begun, were it not made ahead: what goes by it
   * wants to know how long that takes.
   */
  openedAtMs(askedAtMs: number): number {
    const stoodAtMs = this.#stoodAtMs ?? this.#nowMs();
    return Math.max(askedAtMs, stoodAtMs) - (stoodAtMs - this.#beganAtMs);
  }

  /**
   * Whether a client's network is the one that its master saw, or may be the same client's of the other
   * family: IPv4 and IPv6.
   */
  isFor(client: string): boolean {
    const [isV6, isOwnV6] = [client.includes(':'), this.#client.includes(':')];
    return client === this.#client || (client !== '' && isV6 !== isOwnV6);
  }

  /** Takes it; `false` where it is of no use any more. */
  take(): boolean {
    const waiting = this.#standing;
    // An origin that speaks first says that it ends the connection.
    if (waiting && (waiting.destroyed || waiting.readableEnded || waiting.readableLength > 0))
      this.drop('unused');
    if (this.#isOver) return false;
    this.#end('used');
    return true;
  }

  /**
   * The stream to the origin, with these bytes on their way: they go along with its making where it does not
   * stand yet. To be called once, by who has taken it. Rejects as the making of a way does.
   */
  async use(firstBytes: Buffer, signal: AbortSignal): Promise<Duplex> {
    const abort = () => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    this.#late.write(firstBytes);
    try {
      const stream = await this.#making;
      const rest = this.#late.read() as Buffer | null;
      if (rest) stream.write(rest);
      if (!signal.aborted) return stream;
      resetConnection(stream);
      throw new LonghaulError('origin-unreachable', { cause: signal.reason });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends it, if nobody has taken it. */
  drop(end: PreparedWayEnd): void {
    if (this.#isOver) return;
    const waiting = this.#standing;
    this.#end(end);
    this.#stop.abort();
    if (waiting) endConnection(waiting);
  }

  #stand(stream: Duplex): void {
    // An error that comes between two owners must not end the process; it shows in `destroyed`.
    stream.on('error', () => {});
    this.#stoodAtMs = this.#nowMs();
    if (this.#isOver) {
      if (this.#stop.signal.aborted) resetConnection(stream);
      return;
    }
    this.#standing = stream;
    for (const event of ['end', 'error', 'close'] as const) stream.on(event, this.#onGone);
  }

  readonly #onGone = (): void => this.drop('unused');

  #end(end: PreparedWayEnd): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const event of ['end', 'error', 'close'] as const) this.#standing?.off(event, this.#onGone);
    this.#standing = undefined;
    this.#onEnd(end);
  }
}
