import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { LonghaulError } from '@longhaul/shared';
import { OriginStream } from '../entry/origin-stream.ts';

/** A lane's way to the origin, as an HTTP agent reuses it from block to block. */
export class LaneStream extends OriginStream {
  /** An agent marks a socket that it uses again as one that keeps the process alive; a stream has no such mark. */
  ref(): this {
    return this;
  }
}

/** Leads every request over the one stream it was made for. */
export class StreamAgent extends Agent {
  #stream: Duplex | undefined;

  constructor(stream: Duplex) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#stream = stream;
  }

  override createConnection(): Duplex {
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) throw new LonghaulError('origin-unreachable');
    return stream;
  }

  /** The options of the socket are its way's, and its life is the lane's. */
  override keepSocketAlive(): boolean {
    return true;
  }
}
