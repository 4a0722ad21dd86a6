import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

interface PendingCall {
  readonly name: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Reply = readonly [
  type: 1,
  id: number,
  error: { error: string; message: string } | null,
  result: unknown,
];

/** A refusal by Firefox. `code` is a WebDriver error code such as `no such element`. */
export class MarionetteError extends Error {
  override readonly name = 'MarionetteError';
  readonly code: string;

  constructor(command: string, code: string, message: string) {
    super(`${command}: ${message} (${code})`);
    this.code = code;
  }
}

/**
 * A client of Marionette, the remote control built into Firefox. On the wire each message is `<bytes>:<JSON>`: first a
 * greeting from the server, then `[0, id, command, parameters]` and its answer `[1, id, error, result]`.
 */
export class Marionette {
  readonly #socket: Socket;
  readonly #pending = new Map<number, PendingCall>();
  #received: Buffer = Buffer.alloc(0);
  #lastId = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#failAll());
  }

  /** Connects to a Firefox on this machine. Rejects when nothing listens at `port`. */
  static async connect(port: number): Promise<Marionette> {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    return new Marionette(socket);
  }

  /**
   * Sends a command and waits for its answer.
   * @throws {MarionetteError} when Firefox refuses, or when the connection has ended (code `disconnected`).
   */
  async send(name: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    if (this.#socket.destroyed) throw new MarionetteError(name, 'disconnected', 'the connection has ended');
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { name, resolve, reject });
    const json = JSON.stringify([0, id, name, parameters]);
    this.#socket.write(`${Buffer.byteLength(json)}:${json}`);
    return promise;
  }

  /** As `send`, for the commands that answer `{ value }`. */
  async ask<T>(name: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const result = (await this.send(name, parameters)) as { value: T };
    return result.value;
  }

  /** Ends the connection; what is still unanswered is rejected. */
  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const colon = this.#received.indexOf(':');
      if (colon < 0) return;
      const end = colon + 1 + Number(this.#received.toString('latin1', 0, colon));
      if (this.#received.length < end) return;
      const message: unknown = JSON.parse(this.#received.toString('utf8', colon + 1, end));
      this.#received = this.#received.subarray(end);
      if (Array.isArray(message)) this.#settle(message as unknown as Reply);
    }
  }

  #settle([, id, error, result]: Reply): void {
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    if (error) call.reject(new MarionetteError(call.name, error.error, error.message));
    else call.resolve(result);
  }

  #failAll(): void {
    for (const call of this.#pending.values()) {
      call.reject(new MarionetteError(call.name, 'disconnected', 'the connection has ended'));
    }
    this.#pending.clear();
  }
}
