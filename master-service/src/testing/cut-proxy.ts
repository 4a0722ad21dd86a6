import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A way to a port of loopback that a test cuts and heals. Cut, it swallows nothing and says nothing: bytes
 * wait, as in a network that is gone.
 */
export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What was opened while it was cut. */
  readonly #waiting = new Set<Socket>();
  readonly #target: () => number;
  #isCut = false;

  private constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#take(socket));
  }

  /** `target` says the port behind it when the first connection comes. */
  static async open(target: () => number): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
    for (const socket of this.#waiting) this.#join(socket);
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    for (const socket of [...this.#sockets, ...this.#waiting]) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(socket: Socket): void {
    socket.on('error', () => {});
    socket.once('close', () => this.#waiting.delete(socket));
    if (this.#isCut) this.#waiting.add(socket);
    else this.#join(socket);
  }

  #join(one: Socket): void {
    const other = connect(this.#target(), '127.0.0.1');
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => to.write(data));
      from.once('close', () => {
        this.#sockets.delete(from);
        // An end does not cross a cut either.
        if (!this.#isCut) to.destroy();
      });
    }
    one.resume();
  }
}
