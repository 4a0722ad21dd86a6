import { constants } from 'node:os';
import { TlsEnd } from '../tls/tls-end.ts';
import { PlainEnd } from './end.ts';
import type { Flow, FlowComponents, Turn } from './flow.ts';
import type { FlowEnd, SessionState } from './thread-message.ts';

const { EAGAIN, EINTR } = constants.errno;
/** A client that needs longer for its TLS handshake is dropped. */
const HANDSHAKE_MS = 15_000;
/** One that then says nothing for so long is the HTTP server's, which knows what to tell it and when. */
const FIRST_WORD_MS = 5_000;
/** More of a first request is read by whoever goes on. */
const FIRST_READ_BYTES = 16_384;

interface AcceptedInit {
  readonly id: number;
  readonly descriptor: number;
  /** What it is secured with, asked for at its first byte: the certificate may have been renewed since it was taken. */
  readonly contextNow: () => number;
  readonly calls: ConstructorParameters<typeof TlsEnd>[0]['calls'];
  readonly components: FlowComponents;
  readonly nowMs: number;
  readonly onSecured: (isResumed: boolean) => void;
  /** The connection belongs to somebody else from then on. */
  readonly handOver: (flow: AcceptedConnection, state: SessionState) => void;
  readonly onEnd: () => void;
}

/**
 * A connection whose TLS handshake is under way, until the first bytes of a request: that far it costs the main thread
 * nothing. It has no OpenSSL before its first byte, and nobody hears of it where it ends before its first word.
 */
export class AcceptedConnection implements Flow {
  readonly id: number;
  readonly ends: readonly [PlainEnd];
  readonly wantsProgress = false;
  readonly isUnknown = true;
  queued = false;
  reportedBytes = 0;
  readonly #init: AcceptedInit;
  #tls: TlsEnd | undefined;
  #isSecured = false;
  #untilMs: number;

  constructor(init: AcceptedInit) {
    this.#init = init;
    this.id = init.id;
    const end = new PlainEnd(init.descriptor, init.components.kernel);
    // An event tells of its first byte.
    end.readable = false;
    this.ends = [end];
    this.#untilMs = init.nowMs + HANDSHAKE_MS;
  }

  /** Before its first byte its turns cost nothing. */
  get isHandshaking(): boolean {
    return !this.#isSecured && this.ends[0].readable;
  }

  turn(nowMs: number): Turn {
    if (this.#isSecured) return this.#readFirstWord();
    if (!this.#tls) {
      if (!this.ends[0].readable) return 'wait';
      const { calls, contextNow, descriptor } = this.#init;
      try {
        this.#tls = new TlsEnd({ calls, context: contextNow(), role: 'server', descriptor, head: NOTHING });
      } catch {
        return { end: 'broke' };
      }
    }
    const result = this.#tls.handshake();
    if (result === 'waiting') return 'wait';
    if (result !== 'done') return { end: 'broke' };
    this.#isSecured = true;
    this.#untilMs = nowMs + FIRST_WORD_MS;
    this.#init.onSecured(this.#tls.isResumed);
    return this.#readFirstWord();
  }

  expired(nowMs: number): FlowEnd | undefined {
    if (nowMs < this.#untilMs) return undefined;
    if (!this.#isSecured) return 'silent';
    this.#handOver(NOTHING);
    return undefined;
  }

  bytesUp(): number {
    return 0;
  }

  bytesDown(): number {
    return 0;
  }

  finish(): undefined {
    const connection = this.#tls?.giveAway() ?? 0;
    if (connection !== 0) this.#init.calls.openSsl.freeConnection(connection);
    this.#init.onEnd();
  }

  #readFirstWord(): Turn {
    const { buffers } = this.#init.components;
    const memory = buffers.take();
    const taken = this.#tls?.read(memory.address, FIRST_READ_BYTES) ?? 0;
    const word = taken > 0 ? new Uint8Array(memory.buffer, 0, taken).slice() : NOTHING;
    buffers.give(memory);
    if (taken > 0) this.#handOver(word);
    else if (taken === 0) this.#tls?.endWriting();
    if (taken > 0 || taken === -EAGAIN) return 'wait';
    if (taken === -EINTR) return 'again';
    return { end: taken === 0 ? 'complete' : 'broke' };
  }

  #handOver(unread: Uint8Array): void {
    this.#init.handOver(this, {
      connection: this.#tls?.giveAway() ?? 0,
      isNew: false,
      unread,
      unsent: NOTHING,
      isUpOpen: true,
      isDownOpen: true,
      hasEnded: false,
    });
  }
}

const NOTHING = new Uint8Array(0);
