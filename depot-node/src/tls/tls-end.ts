import { constants } from 'node:os';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import type { KernelBuffer, MemoryCalls } from '../kernel/libc.ts';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { OPENSSL, type OpenSslCalls } from '../kernel/openssl-calls.ts';
import type { SocketCalls } from '../kernel/socket-calls.ts';

const { EAGAIN, ECONNRESET, EINTR, EPROTO } = constants.errno;

/** What securing a connection takes. */
export interface TlsCalls {
  readonly openSsl: OpenSslCalls;
  readonly kernel: Pick<
    SocketCalls & DescriptorCalls & MemoryCalls,
    'buffer' | 'close' | 'endWriting' | 'resetOnClose' | 'setNumber' | 'takeError'
  >;
}

export interface TlsEndInit {
  readonly calls: TlsCalls;
  readonly context: number;
  readonly role: 'server' | 'client';
  /** Belongs to this end from now on. */
  readonly descriptor: number;
  /** What had been read from the descriptor already. */
  readonly head: Uint8Array;
  /** Whose certificate a client asks for, a name or an address. */
  readonly host?: HostToVerify;
  /** A connection that has begun already, or was given away by another end. */
  readonly connection?: { readonly address: number; readonly isNew: boolean };
}

export interface HostToVerify {
  readonly name: string;
  readonly isAddress: boolean;
}

/** Why a handshake has failed: the connection broke, or TLS would not have it. */
export interface HandshakeFailure {
  readonly isBroken: boolean;
  readonly reason: string;
}

/** What one record holds at most. */
const RECORD_BYTES = 16_384;
/** Records taken in one read: whoever sends one byte in each has others wait for no more of them. */
const MOST_RECORDS = 64;
/**
 * Reads that bring nothing but records with nothing inside, such as session tickets and new keys: a few in
 * the life of a connection. As many as fill OpenSSL's buffer are one read, and take it some 25 ms.
 */
const MOST_EMPTY_READS = 32;

/**
 * TLS over a descriptor that does not block, ended by OpenSSL: an end of a flow that takes and gives what is
 * inside. An end without goodbye is a break, because whoever is on the way could have made it.
 */
export class TlsEnd {
  readonly descriptor: number;
  readonly isPlain = false;
  readable = true;
  failed = false;
  /** Whether the handshake led to a session that stood already. */
  isResumed = false;
  readonly #openSsl: TlsCalls['openSsl'];
  readonly #kernel: TlsCalls['kernel'];
  readonly #count: KernelBuffer;
  #connection: number;
  /** What is still read first; 0 for nothing. */
  #head = 0;
  #isWritable = true;
  #readWaitsForWrite = false;
  #hasSaidGoodbye = false;
  #emptyReads = 0;

  /** Throws what OpenSSL says; the descriptor is then the caller's again. */
  constructor({ calls, context, role, descriptor, head, host, connection }: TlsEndInit) {
    const { openSsl, kernel } = calls;
    this.#openSsl = openSsl;
    this.#kernel = kernel;
    this.#count = countOf(calls);
    this.descriptor = descriptor;
    this.#connection = connection?.address ?? newConnection(openSsl, context, role, host);
    if (connection?.isNew === false) return;
    if (head.length === 0) openSsl.useDescriptor(this.#connection, descriptor);
    else {
      openSsl.writeToDescriptor(this.#connection, descriptor);
      this.#readFirst(head);
    }
  }

  /** Whether everything of this connection is in OpenSSL and in the kernel. */
  get isMovable(): boolean {
    return this.#head === 0;
  }

  /** Reads that brought nothing so far, though something had come. */
  get emptyReads(): number {
    return this.#emptyReads;
  }

  get writable(): boolean {
    return this.#isWritable;
  }

  set writable(isWritable: boolean) {
    this.#isWritable = isWritable;
    if (isWritable && this.#readWaitsForWrite) this.readable = true;
  }

  /** Goes on with the handshake: whether it is done, or why it never will be. */
  handshake(): 'done' | 'waiting' | HandshakeFailure {
    for (;;) {
      const result = this.#openSsl.handshake(this.#connection);
      if (result === 1) break;
      const error = this.#openSsl.errorOf(this.#connection, result);
      if (error === OPENSSL.error.wantRead && this.#leaveHead()) continue;
      if (error === OPENSSL.error.wantRead || error === OPENSSL.error.wantWrite) return 'waiting';
      return this.#handshakeFailure(error);
    }
    this.isResumed = this.#openSsl.wasResumed(this.#connection);
    return 'done';
  }

  /**
   * Takes bytes, as many as there are now: how many came, 0 at the end. `EINTR` where only records came that
   * have nothing inside: others have their turn before the next read.
   */
  read(address: number, sizeBytes: number): number {
    if (this.#connection === 0) return -ECONNRESET;
    let taken = 0;
    for (let records = 0; taken < sizeBytes && records < MOST_RECORDS; ) {
      this.#openSsl.forgetErrno();
      const result = this.#openSsl.read(
        this.#connection,
        address + taken,
        sizeBytes - taken,
        this.#count.address,
      );
      if (result === 1) {
        taken += this.#count.bytes.getUint32(0, true);
        records += 1;
        continue;
      }
      const hasAsked = this.#openSsl.errno() === EAGAIN;
      const errno = this.#failureOf(result);
      if (errno === -EAGAIN && this.#leaveHead()) continue;
      // Without a word of the kernel records have brought nothing, and more may be there.
      if (errno === -EAGAIN && !this.#readWaitsForWrite && (this.#head !== 0 || !hasAsked)) {
        this.#emptyReads += 1;
        if (this.#emptyReads > MOST_EMPTY_READS) return -EPROTO;
        return taken > 0 ? taken : -EINTR;
      }
      // What broke or ended says so again.
      if (taken === 0) return errno;
      if (errno === -EAGAIN) this.readable = false;
      break;
    }
    return taken;
  }

  /** Gives bytes: how many the kernel has. The rest must be given again, unchanged. */
  write(address: number, sizeBytes: number): number {
    if (this.#connection === 0) return -ECONNRESET;
    // OpenSSL gives the kernel each record by itself, which without this leaves in a packet of its own. On a
    // local socket it does nothing.
    const isCorked = sizeBytes > RECORD_BYTES;
    if (isCorked) this.#kernel.setNumber(this.descriptor, SOCKET_OPTIONS.cork, 1);
    const given = this.#writeRecords(address, sizeBytes);
    if (isCorked) this.#kernel.setNumber(this.descriptor, SOCKET_OPTIONS.cork, 0);
    return given;
  }

  #writeRecords(address: number, sizeBytes: number): number {
    let given = 0;
    while (given < sizeBytes) {
      const result = this.#openSsl.write(
        this.#connection,
        address + given,
        sizeBytes - given,
        this.#count.address,
      );
      if (result !== 1) {
        const errno = this.#failureOf(result);
        if (given === 0) return errno;
        if (errno === -EAGAIN) this.#isWritable = false;
        break;
      }
      given += this.#count.bytes.getUint32(0, true);
    }
    return given;
  }

  /** Says goodbye, and ends the direction below. `EAGAIN` where there is no room for the goodbye yet. */
  endWriting(): number {
    if (this.#connection === 0) return -ECONNRESET;
    if (!this.#hasSaidGoodbye) {
      const result = this.#openSsl.shutdown(this.#connection);
      if (result < 0) {
        const errno = this.#failureOf(result);
        if (errno !== 0) return errno;
      }
      this.#hasSaidGoodbye = true;
    }
    return this.#kernel.endWriting(this.descriptor);
  }

  resetOnClose(isReset: boolean): void {
    this.#kernel.resetOnClose(this.descriptor, isReset);
  }

  takeError(): number {
    return this.#kernel.takeError(this.descriptor);
  }

  /** The connection for an end in another thread, which has the descriptor, too. This one is over. */
  giveAway(): number {
    const connection = this.#connection;
    this.#connection = 0;
    return connection;
  }

  close(): void {
    if (this.#connection === 0) return;
    this.#openSsl.freeConnection(this.#connection);
    this.#connection = 0;
    this.#kernel.close(this.descriptor);
  }

  #readFirst(head: Uint8Array): void {
    const memory = this.#kernel.buffer(head.length);
    new Uint8Array(memory.bytes.buffer).set(head);
    this.#head = this.#openSsl.newMemory();
    this.#openSsl.writeMemory(this.#head, memory.address, memory.bytes.byteLength);
    this.#openSsl.readFromMemory(this.#connection, this.#head);
  }

  /** Whether what had been read is used up just now: then the descriptor is read. */
  #leaveHead(): boolean {
    if (this.#head === 0 || this.#connection === 0 || this.#openSsl.pendingIn(this.#head) > 0) return false;
    this.#head = 0;
    this.#openSsl.readFromDescriptor(this.#connection, this.descriptor);
    return true;
  }

  /** What a call that moved nothing has met: 0 for the end, else an errno below 0. */
  #failureOf(result: number): number {
    const { error } = OPENSSL;
    const met = this.#openSsl.errorOf(this.#connection, result);
    this.#readWaitsForWrite = met === error.wantWrite;
    if (met === error.wantRead || met === error.wantWrite) return -EAGAIN;
    if (met === error.ended) return 0;
    const said = this.#openSsl.takeError();
    return met === error.ssl && said?.reason !== OPENSSL.unexpectedEnd ? -EPROTO : -ECONNRESET;
  }

  #handshakeFailure(met: number): HandshakeFailure {
    const said = this.#openSsl.takeError();
    const isBroken = met !== OPENSSL.error.ssl || said?.reason === OPENSSL.unexpectedEnd;
    const verified = this.#openSsl.verifyResult(this.#connection);
    if (verified !== OPENSSL.verifiedWell && !isBroken)
      return { isBroken, reason: this.#openSsl.verifyText(verified) };
    return { isBroken, reason: said?.text ?? 'the connection broke off in its handshake' };
  }
}

function newConnection(
  openSsl: OpenSslCalls,
  context: number,
  role: TlsEndInit['role'],
  host: HostToVerify | undefined,
): number {
  const connection = openSsl.newConnection(context);
  if (connection === 0) throw new Error(openSsl.takeError()?.text ?? 'no memory');
  openSsl.beginAs(connection, role);
  if (host?.isAddress) openSsl.verifyAddress(connection, host.name);
  else if (host) {
    openSsl.verifyHost(connection, host.name);
    openSsl.connectionControl(connection, OPENSSL.control.hostname, 0, host.name);
  }
  return connection;
}

/** The most that a client says first: a key exchange of today takes 1.6 kB. */
const FIRST_FLIGHT_BYTES = 16_384;

/** A client's connection that has said its first words to nobody yet, and these words. Throws what OpenSSL says. */
export function beginConnection(
  { openSsl, kernel }: TlsCalls,
  context: number,
  host: HostToVerify,
): { readonly address: number; readonly firstFlight: Uint8Array } {
  const address = newConnection(openSsl, context, 'client', host);
  const said = openSsl.newMemory();
  // Both belong to the connection, until it reads and writes elsewhere.
  openSsl.writeToMemory(address, said);
  openSsl.readFromMemory(address, openSsl.newMemory());
  const memory = kernel.buffer(FIRST_FLIGHT_BYTES);
  openSsl.handshake(address);
  const sizeBytes = openSsl.readMemory(said, memory.address, FIRST_FLIGHT_BYTES);
  if (sizeBytes > 0)
    return { address, firstFlight: new Uint8Array(memory.bytes.buffer, 0, sizeBytes).slice() };
  const failure = new Error(openSsl.takeError()?.text ?? 'nothing to say first');
  openSsl.freeConnection(address);
  throw failure;
}

const counts = new WeakMap<OpenSslCalls, KernelBuffer>();

/** Where a call says how many bytes it has moved: one place for all connections of a thread. */
function countOf({ openSsl, kernel }: TlsCalls): KernelBuffer {
  const known = counts.get(openSsl);
  if (known) return known;
  const made = kernel.buffer(8);
  counts.set(openSsl, made);
  return made;
}
