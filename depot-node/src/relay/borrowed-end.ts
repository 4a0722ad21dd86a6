import { constants } from 'node:os';
import type { End, HeldBytes } from './end.ts';
import type { EndUse, FlowComponents } from './flow.ts';
import type { TlsSession } from './tls-session.ts';

const { EAGAIN, ECONNRESET } = constants.errno;

interface BorrowedEndInit {
  /** Undefined where it has ended before the flow began: then there are only the bytes that Node could still read. */
  readonly session: TlsSession | undefined;
  /** Node's end of the session's plain side, a duplicate; belongs to this end from now on. */
  readonly descriptor: number;
  /** What the flow does with it: one of both directions for a while, or all of it until its end. */
  readonly use: EndUse;
  readonly components: Pick<FlowComponents, 'kernel'>;
}

/**
 * The inside of a TLS connection as an end of a flow, past the plain side that Node has. What is still on its
 * way between Node and the connection goes first: towards the flow what Node has not read, towards the peer
 * what Node has written.
 */
export class BorrowedEnd implements End {
  /** Its events are the session's. */
  readonly descriptor = -1;
  readonly isPlain = false;
  readonly session: TlsSession | undefined;
  readonly #init: BorrowedEndInit;
  #mayBeUnread: boolean;
  #mayBeUnsent: boolean;

  constructor(init: BorrowedEndInit) {
    this.#init = init;
    this.session = init.session;
    this.#mayBeUnread = init.use !== 'sink';
    this.#mayBeUnsent = init.use !== 'source';
    init.session?.lend(init.use);
  }

  get readable(): boolean {
    return this.#mayBeUnread || this.session?.tls.readable !== false;
  }

  set readable(isReadable: boolean) {
    if (this.session) this.session.tls.readable = isReadable;
  }

  get writable(): boolean {
    return this.session?.tls.writable !== false;
  }

  set writable(isWritable: boolean) {
    if (this.session) this.session.tls.writable = isWritable;
  }

  get failed(): boolean {
    return this.session === undefined || this.session.hasBroken || this.session.tls.failed;
  }

  set failed(hasFailed: boolean) {
    if (this.session) this.session.tls.failed = hasFailed;
  }

  read(address: number, sizeBytes: number): number {
    if (this.#mayBeUnread) {
      const { kernel } = this.#init.components;
      const taken = kernel.read(this.#init.descriptor, address, sizeBytes);
      if (taken !== -EAGAIN) return taken;
      const held = this.session?.takeUnread(address, sizeBytes) ?? 0;
      if (held > 0) return held;
      this.#mayBeUnread = false;
    }
    return this.session?.readInside(address, sizeBytes) ?? -ECONNRESET;
  }

  write(address: number, sizeBytes: number): number {
    const sent = this.sendEarlier();
    if (sent < 0) return sent;
    return this.session?.tls.write(address, sizeBytes) ?? -ECONNRESET;
  }

  sendEarlier(): number {
    if (!this.#mayBeUnsent) return 0;
    const sent = this.session?.sendUnsent() ?? -ECONNRESET;
    if (sent === 0) this.#mayBeUnsent = false;
    return sent;
  }

  endWriting(): number {
    const sent = this.sendEarlier();
    if (sent < 0) return sent;
    return this.session?.tls.endWriting() ?? -ECONNRESET;
  }

  /**
   * Leaves bytes of the flow with the session, which sends them before what Node writes next; false where it
   * cannot.
   */
  keepForLater(held: HeldBytes): boolean {
    if (this.#mayBeUnsent || !this.session) return false;
    this.session.sendFirst(held);
    return true;
  }

  resetOnClose(isReset: boolean): void {
    this.session?.tls.resetOnClose(isReset);
  }

  takeError(): number {
    return this.session && !this.session.hasBroken ? this.session.tls.takeError() : -ECONNRESET;
  }

  close(): void {
    this.session?.takeBack(this.#init.use);
    this.#init.components.kernel.close(this.#init.descriptor);
  }
}
