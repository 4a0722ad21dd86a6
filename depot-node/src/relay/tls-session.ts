import { constants } from 'node:os';
import { TlsEnd } from '../tls/tls-end.ts';
import { createDirection, type Direction, discardBytes, holdBytes, step, undelivered } from './direction.ts';
import { type HeldBytes, PlainEnd } from './end.ts';
import { type EndUse, type Flow, type FlowComponents, hasFailed, type Turn } from './flow.ts';
import type { FlowEnd, SecureCommand, SessionState } from './thread-message.ts';

const { EAGAIN, EPIPE } = constants.errno;
/**
 * How long a peer may take none of what was written to a connection that Node has closed: about as long as a
 * kernel asks for room on one that nobody has any more.
 */
const UNREAD_MS = 180_000;

interface SessionComponents extends FlowComponents {
  /** Asks for a turn. */
  readonly enqueue: (flow: Flow) => void;
  readonly onSecured: (session: TlsSession) => void;
}

/**
 * A TLS connection that this thread ends. Its plain side is a pair of local sockets, of which Node has the
 * other one: bytes are pumped between them, except in a direction that a flow has borrowed.
 */
export class TlsSession implements Flow {
  readonly id: number;
  readonly tls: TlsEnd;
  readonly ends: readonly [TlsEnd, PlainEnd];
  readonly wantsProgress = false;
  queued = false;
  reportedBytes = 0;
  isHandshaking: boolean;
  /** Whether the connection broke. */
  hasBroken = false;
  /** Why, where it was in its handshake. */
  failure: { readonly isBroken: boolean; readonly reason: string } | undefined;
  readonly #components: SessionComponents;
  readonly #up: Direction;
  readonly #down: Direction;
  readonly #open: Set<Direction>;
  readonly #lent = new Set<Direction>();
  /** Whether Node has ended its writing, which alone makes the end of what it wrote a goodbye. */
  #hasEnded = false;
  /** When Node closed its side, or the peer took something after that. */
  #movedAtMs: number | undefined;
  #isGone = false;

  constructor(command: SecureCommand, tls: TlsEnd, components: SessionComponents) {
    this.id = command.id;
    this.tls = tls;
    this.#components = components;
    const plain = new PairEnd(command.plain, components.kernel);
    this.ends = [tls, plain];
    const { state } = command;
    const held = (bytes: Uint8Array | undefined) => bytes && holdBytes(components.kernel, bytes);
    this.#up = createDirection(tls, plain, { wanted: Infinity, held: held(state?.unread) });
    this.#down = createDirection(plain, tls, { wanted: Infinity, held: held(state?.unsent) });
    this.#open = new Set();
    if (state?.isUpOpen !== false) this.#open.add(this.#up);
    if (state?.isDownOpen !== false) this.#open.add(this.#down);
    this.isHandshaking = state === undefined || state.isNew;
  }

  turn(nowMs: number): Turn {
    if (this.isHandshaking) {
      const result = this.tls.handshake();
      if (result === 'waiting') return 'wait';
      if (result !== 'done') {
        this.failure = result;
        return { end: 'broke' };
      }
      this.isHandshaking = false;
      this.#components.onSecured(this);
    }
    let moved = false;
    for (const direction of this.#open) {
      if (this.#lent.has(direction)) continue;
      const result = step(direction, this.#components);
      if (result === 'moved') moved = true;
      else if (result === 'source-broke' || result === 'sink-broke') this.#break(direction, result);
      this.#endIfOver(direction);
    }
    if (moved && this.#isClosed) this.#movedAtMs = nowMs;
    if (moved && !this.hasBroken && !this.#isGone) return 'again';
    // Behind bytes that wait, reading will meet it.
    if (!this.hasBroken && undelivered(this.#up) === 0 && hasFailed(this.tls)) this.hasBroken = true;
    if (this.#lent.size > 0) return 'wait';
    // A peer that breaks behind its own goodbye has given everything.
    const hasAll = !this.#open.has(this.#up) && undelivered(this.#down) === 0;
    if (this.hasBroken) return { end: hasAll ? 'complete' : 'broke' };
    if (this.#isGone) {
      const isReset = this.#components.kernel.isResetOnClose(this.tls.descriptor);
      return { end: isReset ? 'broke' : 'complete' };
    }
    const isOver = this.#open.size === 0 || (this.#isClosed && !this.#open.has(this.#down));
    return isOver ? { end: 'complete' } : 'wait';
  }

  expired(nowMs: number): FlowEnd | undefined {
    if (this.#movedAtMs === undefined || this.#lent.size > 0) return undefined;
    if (nowMs - this.#movedAtMs < UNREAD_MS) return undefined;
    this.tls.resetOnClose(true);
    return 'silent';
  }

  bytesUp(): number {
    return 0;
  }

  bytesDown(): number {
    return 0;
  }

  finish(): undefined {
    // What Node takes for sent would end in the middle, and look whole.
    if (undelivered(this.#down) > 0) this.tls.resetOnClose(true);
    discardBytes(this.#up, this.#components);
    discardBytes(this.#down, this.#components);
    return undefined;
  }

  /** Node writes no more: what it wrote has a clean end. */
  endDown(): void {
    this.#hasEnded = true;
    this.#components.enqueue(this);
  }

  /** Node has closed its side: what it wrote still goes out, unless the connection is to be reset. */
  closeSoon(nowMs: number): void {
    this.#movedAtMs ??= nowMs;
    discardBytes(this.#up, this.#components);
    this.#open.delete(this.#up);
    if (this.isHandshaking || this.#components.kernel.isResetOnClose(this.tls.descriptor))
      this.#isGone = true;
    this.isHandshaking = false;
    this.#components.enqueue(this);
  }

  /** Leaves a direction, or both for good, to a flow. */
  lend(use: EndUse): void {
    for (const direction of this.#directionsOf(use)) this.#lent.add(direction);
    // What Node wrote last may have come without an event that was looked at.
    this.ends[1].readable = true;
  }

  /** The flow has ended. */
  takeBack(use: EndUse): void {
    for (const direction of this.#directionsOf(use)) this.#lent.delete(direction);
    if (use === 'both') this.#isGone = true;
    // Bytes that were decrypted together with what the flow took make no event.
    this.tls.readable = true;
    this.ends[1].readable = true;
    this.#components.enqueue(this);
  }

  /** Takes bytes that were decrypted but not given to Node yet. */
  takeUnread(address: number, sizeBytes: number): number {
    const { held } = this.#up;
    if (!held) return 0;
    const taken = Math.min(sizeBytes, held.end - held.offset);
    this.#components.kernel.copy(address, held.address + held.offset, taken);
    held.offset += taken;
    if (held.offset === held.end) discardBytes(this.#up, this.#components);
    return taken;
  }

  readInside(address: number, sizeBytes: number): number {
    return this.#up.sourceEnded ? 0 : this.tls.read(address, sizeBytes);
  }

  /** Sends what Node has written: 0 when all of it has gone, `EAGAIN`, or what broke. */
  sendUnsent(): number {
    for (;;) {
      const result = step(this.#down, this.#components);
      if (result === 'moved') continue;
      if (result === 'sink-broke') return -EPIPE;
      return undelivered(this.#down) > 0 ? -EAGAIN : 0;
    }
  }

  /** Sends these bytes before what Node writes from now on. */
  sendFirst(held: HeldBytes): void {
    this.#down.held = held;
  }

  /** Gives the connection away, to go on in another thread; `undefined` where it cannot just now. */
  giveAway(): SessionState | undefined {
    if (this.isHandshaking || this.#lent.size > 0 || this.hasBroken || this.#isClosed) return undefined;
    if (!this.tls.isMovable) return undefined;
    return {
      connection: this.tls.giveAway(),
      isNew: false,
      unread: bytesOf(this.#up),
      unsent: bytesOf(this.#down),
      isUpOpen: this.#open.has(this.#up),
      isDownOpen: this.#open.has(this.#down),
      hasEnded: this.#hasEnded,
    };
  }

  /** Whether Node has closed its side. */
  get #isClosed(): boolean {
    return this.#movedAtMs !== undefined;
  }

  #directionsOf(use: EndUse): readonly Direction[] {
    if (use === 'both') return [this.#up, this.#down];
    return use === 'source' ? [this.#up] : [this.#down];
  }

  #break(direction: Direction, result: 'source-broke' | 'sink-broke'): void {
    const isOutside = (direction === this.#up) === (result === 'source-broke');
    if (isOutside) this.hasBroken = true;
    // Node has closed its side, and is about to say so.
    else if (direction === this.#up) this.#open.delete(direction);
    else direction.sourceEnded = true;
  }

  #endIfOver(direction: Direction): void {
    if (!direction.sourceEnded || undelivered(direction) > 0) return;
    if (direction === this.#up) {
      this.ends[1].endWriting();
      this.#open.delete(direction);
      return;
    }
    // Without the word of Node the end may be one that was cut.
    if (this.#hasEnded) {
      const result = this.tls.endWriting();
      if (result === -EAGAIN) this.tls.writable = false;
      else this.#open.delete(direction);
    } else if (this.#isClosed) this.#open.delete(direction);
  }
}

function bytesOf({ held }: Direction): Uint8Array {
  if (!held) return new Uint8Array(0);
  return new Uint8Array(held.buffer, held.offset, held.end - held.offset).slice();
}

/**
 * The thread's end of the plain side. The main thread closes it, once it knows whether Node shall meet an end
 * or a reset.
 */
class PairEnd extends PlainEnd {
  override close(): void {}
}

/** A connection that begins, or one that goes on here. */
export function createTlsSession(
  command: SecureCommand,
  context: number,
  components: SessionComponents & { readonly calls: ConstructorParameters<typeof TlsEnd>[0]['calls'] },
): TlsSession {
  const { role, descriptor, head, host, state } = command;
  const init = { calls: components.calls, context, role, descriptor, head };
  const tls = new TlsEnd({
    ...init,
    ...(host && { host }),
    ...(state && { connection: { address: state.connection, isNew: state.isNew } }),
  });
  const session = new TlsSession(command, tls, components);
  if (state?.hasEnded === true) session.endDown();
  return session;
}
