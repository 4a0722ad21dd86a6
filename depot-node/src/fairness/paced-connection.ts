import type { SocketCalls } from '../kernel/socket-calls.ts';
import type { HeldDescriptor } from '../sockets/held-descriptor.ts';
import { setMaxPacing } from '../sockets/set-leg-options.ts';
import { TCP_CLOSED, type TcpInfo } from '../sockets/tcp-info.ts';
import { ShareUse } from './share-use.ts';

interface PacedConnectionInit {
  readonly kernel: SocketCalls;
  readonly readInfo: (descriptor: number) => TcpInfo | undefined;
  readonly held: HeldDescriptor;
  /** Whether it is nobody's any more when it leaves. */
  readonly handedOver: boolean;
  /** The configured bound of this connection, whatever its share. Bits per second, as all rates. */
  readonly maxPacingBps: number | undefined;
  /** Told each time the kernel refuses the pace, with the errno, below 0. */
  readonly onRefused: (errno: number) => void;
  readonly nowMs: number;
}

/** A connection with a part of the uplink. */
export class PacedConnection {
  readonly use: ShareUse;
  readonly #init: PacedConnectionInit;
  #sentBytes: number | undefined;
  #pacedBps: number | undefined;
  #notSentBytes = 0;

  constructor(init: PacedConnectionInit) {
    this.#init = init;
    this.use = new ShareUse(init.nowMs);
    this.#sentBytes = this.#look()?.sentBytes;
  }

  pace(shareBps: number, nowMs: number): void {
    this.use.setShare(shareBps, nowMs);
    const pacedBps = Math.min(shareBps, this.#init.maxPacingBps ?? Infinity);
    if (pacedBps === this.#pacedBps) return;
    this.#pacedBps = pacedBps;
    this.#set(pacedBps);
  }

  /** Bytes that went out since the last count, repeated ones as well; `undefined` once the connection is over. */
  count(): number | undefined {
    const info = this.#look();
    if (!info || info.state === TCP_CLOSED) return undefined;
    const { sentBytes, notSentBytes = 0 } = info;
    this.#notSentBytes = notSentBytes;
    // Before Linux 4.19 the kernel does not tell: such a connection counts as one that wants all it can get.
    const grownBytes = sentBytes === undefined ? Infinity : sentBytes - (this.#sentBytes ?? sentBytes);
    this.#sentBytes = sentBytes;
    this.use.note(grownBytes);
    return grownBytes;
  }

  /** Whether at the last count the kernel still had bytes to send at this pace, which may stay for them. */
  get isDraining(): boolean {
    return this.#notSentBytes > 0 && !this.#init.handedOver;
  }

  /** Lets the connection go on as its class is configured. The rest of one that was handed over keeps its last pace. */
  unpace(): void {
    if (!this.#init.handedOver) this.#set(this.#init.maxPacingBps);
  }

  /** Lets go of the descriptor; the pace stays as it is. */
  forget(): void {
    this.#init.held.release();
  }

  #look(): TcpInfo | undefined {
    const descriptor = this.#init.held.descriptor();
    return descriptor === undefined ? undefined : this.#init.readInfo(descriptor);
  }

  #set(maxPacingBps: number | undefined): void {
    const descriptor = this.#init.held.descriptor();
    if (descriptor === undefined) return;
    const errno = setMaxPacing(this.#init.kernel, descriptor, maxPacingBps);
    if (errno !== 0) this.#init.onRefused(errno);
  }
}
