import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Kernel } from '../kernel/open-kernel.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { rawSocketOf, rememberRawSocket, resetConnection } from '../sockets/reset.ts';
import { TlsFailure } from '../tls/tls-ending.ts';
import type { RelayThread, SessionListener } from './relay-thread.ts';
import type { FlowReport, GivenAway, SecureCommand, SessionCommand, SessionState } from './thread-message.ts';

const { EAGAIN } = constants.errno;

interface TlsSideInit {
  readonly kernel: Kernel;
  readonly thread: RelayThread;
  /** What TLS goes over. Node reads it no more. */
  readonly below: Socket;
  readonly command: Omit<SecureCommand, 'id'>;
  /** Node's end of the plain side. */
  readonly nodeEnd: number;
  readonly onSecured: (isResumed: boolean) => void;
  /** Frees what OpenSSL has of a connection that goes on in no thread. */
  readonly freeConnection: (address: number) => void;
}

/** A TLS connection that a relay thread ends, as the main thread sees it. */
export class TlsSide {
  /** What is inside. Rejects with a `TlsFailure`. */
  readonly secured: Promise<Socket>;
  readonly #init: TlsSideInit;
  readonly #outcome = Promise.withResolvers<Socket>();
  #thread: RelayThread;
  #id: number;
  #plain: Socket | undefined;
  #isOver = false;
  #isHandedOver = false;
  /** What is said while the connection is on its way to another thread. */
  #unsaid: SessionCommand['type'][] | undefined;
  #onMoved: ((state: GivenAway['state']) => void) | undefined;

  constructor(init: TlsSideInit) {
    this.#init = init;
    this.#thread = init.thread;
    this.secured = this.#outcome.promise;
    const { below } = init;
    below.on('error', () => below.destroy());
    // Once it is over, what has come in is still Node's to read.
    below.once('close', () => {
      if (!this.#isOver) this.drop();
    });
    this.#id = init.thread.secure(init.command, this.#listener);
    // Its handshake was done before.
    if (init.command.state?.isNew === false) this.#listener.onSecured(false);
  }

  get thread(): RelayThread {
    return this.#thread;
  }

  get id(): number {
    return this.#id;
  }

  /** Whether a flow may take it. */
  get isThere(): boolean {
    return this.#plain?.destroyed === false && !this.#isOver && !this.#isHandedOver && this.#thread.isAlive();
  }

  /** Ends it from here, as the stream inside ends when it is destroyed. */
  drop(): void {
    if (this.#plain) this.#plain.destroy();
    else this.#say('close-soon');
  }

  /** Leaves it to a tunnel of its thread, to its end; Node's side is closed. */
  handOver(): void {
    this.#isHandedOver = true;
    this.#plain?.destroy();
  }

  /** Goes on in another thread; false where it cannot, and stays. */
  async move(to: RelayThread): Promise<boolean> {
    if (this.#unsaid || !this.isThere) return false;
    this.#unsaid = [];
    const state = await new Promise<GivenAway['state']>((resolve) => {
      this.#onMoved = resolve;
      this.#thread.tell({ type: 'give-away', id: this.#id });
    });
    if (state) this.#goOn(state, to);
    const unsaid = this.#unsaid;
    this.#unsaid = undefined;
    for (const said of unsaid) this.#say(said);
    return state !== undefined && this.#thread === to;
  }

  /** Goes on in a thread, or where that has died meanwhile, in the one that gave the connection away. */
  #goOn(state: SessionState, to: RelayThread): void {
    const { command, kernel, freeConnection } = this.#init;
    const thread = [to, this.#thread].find((one) => one.isAlive());
    if (thread) {
      this.#thread = thread;
      this.#id = thread.secure({ ...command, head: new Uint8Array(0), state }, this.#listener);
      return;
    }
    freeConnection(state.connection);
    kernel.resetOnClose(command.descriptor, true);
    kernel.close(command.descriptor);
    this.#settle({ end: 'relay-failed', failure: undefined });
  }

  #say(type: SessionCommand['type']): void {
    if (this.#isOver) return;
    if (this.#unsaid) this.#unsaid.push(type);
    else this.#thread.tell({ type, id: this.#id });
  }

  readonly #listener: SessionListener = {
    onSecured: (isResumed) => {
      const { below, nodeEnd, onSecured } = this.#init;
      onSecured(isResumed);
      const plain = new PlainSide(nodeEnd, below);
      this.#plain = plain;
      rememberRawSocket(plain, below);
      plain.once('finish', () => this.#say('end-down'));
      plain.once('close', () => {
        if (!this.#isHandedOver) this.#say('close-soon');
      });
      this.#outcome.resolve(plain);
      if (below.destroyed) plain.destroy();
    },
    onGivenAway: (state) => this.#onMoved?.(state),
    onFinished: (report) => this.#settle(report),
  };

  #settle({ end, failure }: Pick<FlowReport, 'end' | 'failure'>): void {
    const { kernel, below, command, nodeEnd } = this.#init;
    this.#isOver = true;
    this.#onMoved?.(undefined);
    const plain = this.#plain;
    if (!plain) {
      kernel.close(command.plain);
      kernel.close(nodeEnd);
      const { isBroken = true, reason = 'the connection broke off' } = failure ?? {};
      this.#outcome.reject(new TlsFailure(isBroken, reason));
      below.destroy();
      return;
    }
    if (end === 'complete') kernel.close(command.plain);
    else breakOff(kernel, plain, command.plain);
    // What a reset of the stream inside, or a break, means for the connection below.
    if (end === 'complete') below.destroy();
    else resetConnection(below);
  }
}

/**
 * Closes the thread's end of a pair so that Node meets a reset behind all that has been written to it: bytes
 * that nobody has read make the difference to an end.
 */
function breakOff(kernel: Kernel, plain: Socket, threadEnd: number): void {
  const own = plain.destroyed ? undefined : descriptorOf(plain);
  const byte = kernel.buffer(1);
  const written = own === undefined ? 0 : kernel.write(own, byte.address, 1);
  const isNoticed = written === 1 || (own !== undefined && written === -EAGAIN);
  kernel.close(threadEnd);
  if (!isNoticed)
    plain.destroy(
      own === undefined ? undefined : Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    );
}

const ADDRESSES = ['remoteAddress', 'remotePort', 'remoteFamily', 'localAddress', 'localPort'] as const;

/** The inside of a TLS connection for Node: a local socket with the addresses of the connection. */
class PlainSide extends Socket {
  readonly encrypted = true;
  readonly #outside: Socket;

  constructor(descriptor: number, below: Socket) {
    super({ fd: descriptor, readable: true, writable: true, allowHalfOpen: true });
    const raw = rawSocketOf(below);
    this.#outside = raw instanceof Socket ? raw : below;
  }

  static {
    // A local socket has none of its own, and its class has them as what the compiler takes for fields.
    for (const name of ADDRESSES) {
      Object.defineProperty(PlainSide.prototype, name, {
        get(this: PlainSide) {
          return this.#outside[name];
        },
      });
    }
  }
}
