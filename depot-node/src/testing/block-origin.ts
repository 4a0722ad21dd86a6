import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { resetConnection } from '../sockets/reset.ts';
import { unstalledMs } from './unstalled-clock.ts';

/** Who asks: connections are counted from 0, the lane is known by the port that its connection comes from. */
export interface Asker {
  readonly connection: number;
  readonly lane: number;
}

/** What an origin does with one request. */
export interface OriginManners {
  /** Payload bytes per millisecond of one connection; as fast as it goes where it says nothing. */
  readonly bytesPerMs?: (asker: Asker) => number | undefined;
  /** Resets a connection after this many bytes of payload. */
  readonly breaksAfter?: (asker: Asker) => number | undefined;
  /** Ends each connection after one answer. */
  readonly closes?: boolean;
  /** Answers itself, when it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse, asker: Asker) => boolean;
  readonly etag?: (asker: Asker) => string;
  /** Before it answers at all. */
  readonly delayMs?: number;
}

export interface AskedRange extends Asker {
  readonly path: string;
  readonly atMs: number;
  readonly startByte: number;
  readonly endByte: number;
  /** Other connections on which answers were under way when it was asked. */
  readonly beside: number;
}

const TURN_MS = 5;

/** A web server with one file, ranges and manners, on a port of its own. */
export class BlockOrigin {
  readonly content: Buffer;
  readonly asked: AskedRange[] = [];
  manners: OriginManners = {};
  /** Which lane has which local port; set by whoever opens the connection. */
  readonly lanes = new Map<number, number>();
  /** Answers that went out whole. */
  answered = 0;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, { connection: number; sentBytes: number }>();
  #connections = 0;
  /** Answers under way. */
  readonly #answering = new Map<Socket, number>();

  constructor(content: Buffer) {
    this.content = content;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.set(socket, { connection: this.#connections, sentBytes: 0 });
      this.#connections += 1;
      socket.on('error', () => {});
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#answering.delete(socket);
      });
    });
  }

  get connections(): number {
    return this.#connections;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /**
   * Resets all connections that it has accepted, those too whose end is just on its way: while an answer
   * stands still, a server does not read, and sees no peer go.
   */
  endAll(): void {
    for (const socket of this.#sockets.keys()) resetConnection(socket);
  }

  async close(): Promise<void> {
    this.endAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const state = this.#sockets.get(request.socket);
    if (!state) return;
    const asker = {
      connection: state.connection,
      lane: this.lanes.get(request.socket.remotePort ?? 0) ?? -1,
    };
    const range = /^bytes=([0-9]+)-([0-9]+)$/.exec(request.headers.range ?? '');
    const [startByte, lastByte] = [Number(range?.[1]), Number(range?.[2])];
    this.asked.push({
      ...asker,
      path: request.url ?? '',
      atMs: performance.now(),
      startByte,
      endByte: lastByte + 1,
      beside: [...this.#answering].filter(([socket, answers]) => socket !== request.socket && answers > 0)
        .length,
    });
    const { socket } = request;
    this.#answering.set(socket, (this.#answering.get(socket) ?? 0) + 1);
    response.once('close', () => this.#answering.set(socket, (this.#answering.get(socket) ?? 1) - 1));
    const etag = this.manners.etag?.(asker) ?? '"one"';
    if (this.manners.closes) response.setHeader('Connection', 'close');
    if (this.manners.answer?.(request, response, asker)) return;
    if (!range || (request.headers['if-range'] ?? etag) !== etag) {
      response.writeHead(200, { etag, 'content-length': this.content.length }).end(this.content);
      return;
    }
    const body = this.content.subarray(startByte, lastByte + 1);
    response.writeHead(206, {
      etag,
      'content-length': body.length,
      'content-range': `bytes ${startByte}-${lastByte}/${this.content.length}`,
    });
    setTimeout(() => this.#send(response, request.socket, body, asker, state), this.manners.delayMs);
  }

  #send(
    response: ServerResponse,
    socket: Socket,
    body: Buffer,
    asker: Asker,
    state: { sentBytes: number },
  ): void {
    const { breaksAfter, bytesPerMs } = this.manners;
    const most = breaksAfter?.(asker) ?? Number.POSITIVE_INFINITY;
    const rate = bytesPerMs?.(asker);
    const begunMs = unstalledMs();
    let sent = 0;
    const turn = () => {
      if (socket.destroyed) return;
      const dueBytes = (unstalledMs() - begunMs + TURN_MS) * (rate ?? Number.POSITIVE_INFINITY);
      const asMuch = Math.max(0, Math.min(body.length, Math.ceil(dueBytes)) - sent);
      const chunk = body.subarray(sent, sent + Math.min(asMuch, most - state.sentBytes));
      sent += chunk.length;
      state.sentBytes += chunk.length;
      if (state.sentBytes >= most) {
        // What was written reaches the peer before the reset does.
        response.write(chunk, () => setImmediate(() => socket.resetAndDestroy()));
        return;
      }
      if (sent === body.length) {
        this.answered += 1;
        response.end(chunk);
        return;
      }
      response.write(chunk);
      setTimeout(turn, TURN_MS);
    };
    turn();
  }
}

/** Bytes of which no two places look alike. */
export function unlikeBytes(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  let state = 0x9e3779b9;
  for (let index = 0; index < sizeBytes; index += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) + index;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
