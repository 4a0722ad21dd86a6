import { type IncomingMessage, request } from 'node:http';
import { LonghaulError } from '@longhaul/shared';
import { headersForPart, type Part, type Representation } from '../entry/representation.ts';
import { resetConnection } from '../sockets/reset.ts';
import { BlockExchange } from './block-exchange.ts';
import { type LaneStream, StreamAgent } from './lane-stream.ts';
import type { BlockConnection, BlockTimes, OnChunk } from './lane-ways.ts';
import { joinFailure } from './origin-busy.ts';

export interface HttpBlockInit {
  /** The way to the origin, which may not stand yet; this connection's own from now on. */
  readonly stream: LaneStream;
  /** Request target. */
  readonly path: string;
  /** Sent with every request, `Host` among them; those of the connection and of the part are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** Silence while bytes are wanted, after which the connection has broken. */
  readonly silenceMs: number;
  readonly nowMs: () => number;
}

/** The head of an answer, its body unread. */
export interface HeldAnswer {
  readonly answer: IncomingMessage;
  /** Reads the body, which must be exactly as long as this. Rejects as `BlockConnection.fetch` does. */
  readonly read: (sizeBytes: number, onChunk: OnChunk) => Promise<BlockTimes>;
}

/** Blocks by HTTP/1.1, one request after the other over one connection that stays. */
export class HttpBlockConnection implements BlockConnection {
  readonly #init: HttpBlockInit;
  readonly #agent: StreamAgent;
  #running: BlockExchange | undefined;
  #isPaused = false;
  #isClosed = false;
  #stands = false;
  /** What the parts are parts of; known after the first answer at the latest. */
  representation: Representation | undefined;

  constructor(init: HttpBlockInit, representation?: Representation) {
    this.#init = init;
    this.representation = representation;
    this.#agent = new StreamAgent(init.stream);
    // Between blocks nobody else listens.
    init.stream.on('error', () => {});
    init.stream.once('attached', () => {
      this.#stands = true;
      this.#running?.watchSilence();
    });
  }

  get isOver(): boolean {
    const { stream } = this.#init;
    return this.#isClosed || stream.destroyed || stream.readableEnded || !stream.writable;
  }

  async fetch(part: Part, onChunk: OnChunk): Promise<BlockTimes> {
    const { representation } = this;
    if (!representation) throw new LonghaulError('internal', { detail: 'no version to ask for' });
    const held = await this.ask(headersForPart(representation, part));
    const failure = joinFailure(held.answer, representation, part);
    if (failure) {
      this.close();
      throw failure;
    }
    return held.read(part.endByte - part.startByte, onChunk);
  }

  /** Asks with these headers besides, and gives the answer's head. Rejects as `fetch` does when none comes. */
  async ask(headers: Readonly<Record<string, string>>): Promise<HeldAnswer> {
    if (this.isOver || this.#running) throw new LonghaulError('origin-unreachable');
    const { path, silenceMs, nowMs } = this.#init;
    const outgoing = request({
      path,
      headers: { ...this.#init.headers, ...headers, connection: 'keep-alive' },
      agent: this.#agent,
    });
    const exchange = new BlockExchange(outgoing, silenceMs, nowMs, () => this.close());
    this.#running = exchange;
    if (this.#isPaused) exchange.pause();
    if (this.#stands) exchange.watchSilence();
    outgoing.end();
    const answer = await exchange.answered;
    const read = async (sizeBytes: number, onChunk: OnChunk) => {
      const times = await exchange.read(answer, sizeBytes, onChunk);
      this.#running = undefined;
      if (!outgoing.shouldKeepAlive) this.#isClosed = true;
      return times;
    };
    return { answer, read };
  }

  pause(): void {
    this.#isPaused = true;
    this.#running?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#running?.resume();
  }

  close(): void {
    this.#isClosed = true;
    const running = this.#running;
    this.#running = undefined;
    // A reset frees the chain at once; a mere end would leave it open until the origin has more to send.
    resetConnection(this.#init.stream);
    running?.fail(new LonghaulError('origin-unreachable'));
    this.#agent.destroy();
  }
}
